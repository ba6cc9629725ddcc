"""The site with an address and a repository, and without: what leads there, and what does not.

Every day, it is built without. The one with an address is built where everything is tested, as the workflow does.
"""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from tests.cfn import ROOT
from tests.docs.browser.site import build, built
from tests.docs.test_adr import FILES, elsewhere, front_matter
from tests.openapi import openapi

SITE = "https://example.com/delayer/"
REPOSITORY = "https://example.org/team/delayer"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
DECISION = "adr/0018-ledger-decides/index.html"
TEST = "tests/unit/ledger/test_claim.py"


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As on a developer's machine."""
    return built(tmp_path_factory)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As in the workflow."""
    return build(tmp_path_factory.mktemp("published"), SITE_URL=SITE, REPO_URL=REPOSITORY, REPO_REF=COMMIT)


# Sources that pages quote.


@cache
def texts(site: Path) -> dict[str, str]:
    """The pages, but for those that a plugin brings, and for addresses that lead to another page."""
    files = [path for path in site.rglob("*.html") if path.name in ("index.html", "404.html")]
    found = {path.relative_to(site).as_posix(): path.read_text() for path in files}
    return {name: text for name, text in found.items() if 'http-equiv="refresh"' not in text}


def article(page: str) -> str:
    return page.split("<article")[1].split("</article>")[0]


def linked_files(text: str, repository: str = '[^"]+') -> list[str]:
    """The paths of files in this repository, or in any."""
    if "/blob/" not in text:  # as on most pages, which are long
        return []
    return re.findall(rf"{repository}/blob/\w+/([^\"#]+)", text)


def test_an_address_of_what_was_superseded_leads_to_the_table(local: Path) -> None:
    for number in elsewhere():
        [page] = local.glob(f"adr/{number:04d}-*/index.html")
        assert 'content="0; url=../#decisions-told-elsewhere"' in page.read_text()
    assert 'id="decisions-told-elsewhere"' in (local / "adr/index.html").read_text()


def test_without_an_address_no_page_names_one(local: Path) -> None:
    for name, text in texts(local).items():
        assert 'rel="canonical"' not in text, name
        assert "md-source" not in text, name
        # At the root, others have files of the same names, such as a README.
        ours = [path for path in linked_files(text) if "/" in path and (ROOT / path).exists()]
        assert ours == [], name


def test_without_a_repository_paths_are_text(local: Path) -> None:
    assert f"<li><code>{TEST}</code></li>" in (local / DECISION).read_text()
    assert f"<td><code>{TEST}</code></td>" in (local / "adr/code/index.html").read_text()


@pytest.mark.thorough
def test_with_a_repository_paths_are_links_to_the_commit(published: Path) -> None:
    for page in (DECISION, "adr/code/index.html"):
        assert f'<a href="{REPOSITORY}/blob/{COMMIT}/{TEST}"><code>{TEST}</code></a>' in (published / page).read_text()


@pytest.mark.thorough
def test_every_link_into_the_repository_leads_to_a_file(published: Path) -> None:
    linked = {path for text in texts(published).values() for path in linked_files(text, REPOSITORY)}
    assert len(linked) > 100
    assert [path for path in sorted(linked) if not (ROOT / path).is_file()] == []


@pytest.mark.thorough
def test_with_an_address_each_page_names_its_own(published: Path) -> None:
    for name, text in texts(published).items():
        if name != "404.html" and "http-equiv" not in text:
            [link] = re.findall(r'<link [^>]*rel="canonical"[^>]*>', text)
            assert f'href="{SITE}{name.removesuffix("index.html")}"' in link


@pytest.mark.thorough
def test_a_repository_is_linked_but_not_asked(published: Path) -> None:
    """The theme's component would ask the host of the repository for its stars."""
    page = (published / "index.html").read_text()
    assert f'href="{REPOSITORY}"' in page
    assert 'data-md-component="source"' not in page
    assert "/edit/" not in page


def test_each_page_shows_the_version_and_what_comes_before_and_after(local: Path) -> None:
    version = openapi()["info"]["version"]
    for name, text in texts(local).items():
        assert f">Delayer {version}</a>" in text, name
    page = (local / DECISION).read_text()
    assert "md-footer__link--prev" in page
    assert "md-footer__link--next" in page


@pytest.mark.thorough
def test_the_published_site_shows_its_commit(published: Path) -> None:
    assert f"commit {COMMIT[:8]}" in (published / "index.html").read_text()


@pytest.mark.parametrize(
    ("kind", "root"), [("local", "./"), pytest.param("published", "/delayer/", marks=pytest.mark.thorough)]
)
def test_a_dead_link_leads_to_a_page_that_leads_on(request: pytest.FixtureRequest, kind: str, root: str) -> None:
    """Published, it may be shown for an address in any folder; on a disk, the site may lie in any folder."""
    site: Path = request.getfixturevalue(kind)
    page = (site / "404.html").read_text()
    linked = re.findall(r'<(?:a|link rel="stylesheet"|script) [^>]*?(?:href|src)="([^"#]+)"', page)
    inside = [target for target in linked if not target.startswith("https://example.")]
    assert [target for target in inside if not target.startswith(root)] == []
    assert [t for t in inside if not (site / t.removeprefix(root)).exists()] == []
    for room in ("Start", "Use", "Operate", "Decide"):
        assert f">{room}</a></li>" in page


def test_the_changelog_is_that_of_the_repository_with_links_that_lead_on(local: Path) -> None:
    page = (local / "project/changelog/index.html").read_text()
    shown = re.sub(r"<[^>]+>", "", article(page))
    for heading in re.findall(r"^### (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE):
        assert heading in shown
    for target, anchor in re.findall(
        r'<a href="(\.\./[^"#]+)(#[^"]+)?"', page.split("<article")[1].split("</article>")[0]
    ):
        aimed = (local / "project/changelog" / target / "index.html").resolve()
        assert aimed.is_file(), target
        assert not anchor or f'id="{anchor[1:]}"' in aimed.read_text()


def test_generated_pages_do_not_crowd_the_search(local: Path) -> None:
    """They name each number; the search for one has to find its record."""
    entries = json.loads((local / "search/search_index.json").read_text())["docs"]
    places = {entry["location"].partition("#")[0] for entry in entries}
    assert "adr/0018-ledger-decides/" in places
    assert places & {"adr/code/", "adr/timeline/"} == set()
    assert [entry for entry in entries if "#in-the-code-and-the-tests" in entry["location"]] == []


# ------------------------------------------------------------ the decisions


def test_each_page_shows_number_status_and_date(local: Path) -> None:
    for file in FILES:
        matter = front_matter(file)
        shown = re.sub(r"<[^>]+>", "", (local / "adr" / file.stem / "index.html").read_text())
        assert f"ADR {matter['number']:04d} · {matter['status']} · {matter['date']}" in shown, file.name


def test_both_sides_of_a_supersession_are_linked_on_the_site(local: Path) -> None:
    index = article((local / "adr/index.html").read_text())
    table = index.split('id="decisions-told-elsewhere"')[1]
    for number, name in elsewhere().items():
        place = name.removesuffix(".md")
        row = table.split(f"<td>{number:04d}</td>")[1].split("</tr>")[0]
        assert f'href="{place}/"' in row
        line = (local / "adr" / place / "index.html").read_text().split('class="adr-facts"')[1].split("</p>")[0]
        assert f'href="../#decisions-told-elsewhere">ADR {number:04d}</a>' in line


def test_the_search_finds_a_record_by_its_number(local: Path) -> None:
    """By "0018", and by "ADR 0018": the one is in the title, the other in the text."""
    entries = json.loads((local / "search/search_index.json").read_text())["docs"]
    by_place = {entry["location"]: entry for entry in entries}
    for file in FILES:
        entry = by_place[f"adr/{file.stem}/"]
        assert entry["title"].startswith(f"{file.name[:4]} ")
        assert f"ADR {file.name[:4]} · " in entry["text"]


def test_the_sidebar_groups_the_records_as_the_index_does(local: Path) -> None:
    *themes, table = re.findall(r"^## (.+)$", (ROOT / "adr/index.md").read_text(), flags=re.MULTILINE)
    page = (local / "adr/index.html").read_text()
    sidebar = page.split("md-sidebar--primary")[1].split("md-sidebar--secondary")[0]
    shown = [" ".join(text.split()) for text in re.findall(r">([^<>]+)<", sidebar)]
    shown = shown[shown.index(themes[0]) :]
    places = [shown.index(theme) for theme in themes]
    assert places == sorted(places)
    assert table not in shown, "it has no records"
    for file in FILES:
        assert len({text for text in shown if text.startswith(f"{file.name[:4]} ")}) == 1
