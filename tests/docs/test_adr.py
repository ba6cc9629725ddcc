"""The decision records keep their form, and each names a test that exists (ADR 0001)."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.running.of_each import of_each

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "adr").glob("[0-9]*.md"))
INDEX = (ROOT / "adr/index.md").read_text()
STATUSES = {"proposed", "accepted", "rejected", "deprecated"}
SECTIONS = [
    "## Context and Problem Statement",
    "## Considered Options",
    "## Decision Outcome",
    "### Consequences",
    "### Confirmation",
]
OPTIONAL_SECTIONS = ["## More Information"]
PLACEHOLDERS = re.compile(
    r"\b(TODO|TBD|FIXME|XXX|lorem ipsum|to be (taken|decided|written))\b|\{\{|<[a-z ]+>", re.IGNORECASE
)
LINK = re.compile(r"\[([^\]]*)\]\((\d{4}-[a-z0-9-]+\.md)\)")
OPTION = re.compile(r"- .+(: chosen|: rejected(?:[^:,]*), (?:because|for) .+)")
ELSEWHERE = re.compile(r"\| (\d{4}) \| (\d{4}-\d\d-\d\d) \| (.+) \| \[(\d{4})\]\((.+)\): (.+) \|")
LONGEST = 800  # words: about a page


@cache
def front_matter(file: Path) -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.load(file.read_text().split("---\n")[1], Loader=yaml.CSafeLoader)
    return parsed


def superseded(matter: dict[str, Any]) -> list[int]:
    """One number, several, or none."""
    value = matter.get("supersedes", [])
    return value if isinstance(value, list) else [value]


@cache
def elsewhere() -> dict[int, str]:
    """The table of the index: the number of each record that has no file any more, and the file that tells it now."""
    table = INDEX.partition("\n## Decisions told elsewhere\n")[2]
    found = [ELSEWHERE.fullmatch(line) for line in table.splitlines() if line.startswith("| ")][1:]
    return {int(row[1]): row[5] for row in found if row and row[5].startswith(f"{row[4]}-")} if all(found) else {}


@cache
def body(file: Path) -> str:
    return file.read_text().split("---\n", 2)[2]


def title(file: Path) -> str:
    found = re.search(r"^# (.+)$", body(file), flags=re.MULTILINE)
    assert found
    return found[1]


each = of_each(FILES)


def test_numbers_are_consecutive_from_one() -> None:
    """Each is that of a record, or of a line of the table."""
    numbers = sorted([*(int(file.name[:4]) for file in FILES), *elsewhere()])
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_table_has_what_was_superseded_each_once_and_in_order() -> None:
    table = INDEX.partition("\n## Decisions told elsewhere\n")[2]
    assert re.findall(r"^\| (\d{4}) ", table, re.MULTILINE) == [f"{number:04d}" for number in sorted(elsewhere())]
    assert len(elsewhere()) >= 11


def test_the_address_of_what_was_superseded_leads_to_the_table() -> None:
    redirects = re.findall(r"^ +adr/(\d{4})-[a-z0-9-]+\.md: (.+)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
    assert redirects == [(f"{number:04d}", "adr/index.md#decisions-told-elsewhere") for number in sorted(elsewhere())]


@each
def test_name_and_front_matter(file: Path) -> None:
    matter = front_matter(file)
    assert re.fullmatch(r"\d{4}(-[a-z0-9]+)+\.md", file.name)
    assert matter["number"] == int(file.name[:4])
    assert matter["status"] in STATUSES
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(matter["date"]))
    assert set(matter) <= {"number", "status", "date", "supersedes"}


def test_supersession_is_stated_on_both_sides() -> None:
    assert {(number, file.name) for file in FILES for number in superseded(front_matter(file))} == {
        *elsewhere().items()
    }


@each
def test_no_placeholder(file: Path) -> None:
    assert not PLACEHOLDERS.search(re.sub(r"`[^`]*`", "", body(file)))


@each
def test_links_and_their_numbers(file: Path) -> None:
    for text, target in LINK.findall(body(file)):
        assert (ROOT / "adr" / target).is_file(), target
        assert text == f"ADR {target[:4]}"
    unlinked = re.findall(r"(?<!\[)ADR \d{4}", body(file))
    assert unlinked == []


@each
def test_is_in_the_index_once_with_its_title(file: Path) -> None:
    """The sidebar is made from it. The preface names the first, and the table those that tell others, too."""
    links = 1 + (file.name[:4] == "0001") + len(superseded(front_matter(file)))
    assert INDEX.count(f"]({file.name})") == links
    assert INDEX.count(f"- [{file.name[:4]}]({file.name}) {title(file)}\n") == 1


@each
def test_sections(file: Path) -> None:
    headings = re.findall(r"^##.*$", body(file), flags=re.MULTILINE)
    assert [heading for heading in headings if heading not in OPTIONAL_SECTIONS] == SECTIONS
    assert len(re.findall(r"^# .+$", body(file), flags=re.MULTILINE)) == 1


@each
def test_is_about_a_page_at_most(file: Path) -> None:
    assert len(body(file).split()) <= LONGEST


@each
def test_each_option_is_chosen_or_rejected_with_its_reason(file: Path) -> None:
    section = body(file).split("## Considered Options")[1].split("## Decision Outcome")[0]
    options = [line for line in section.splitlines() if line]
    assert [option for option in options if not OPTION.fullmatch(option)] == []
    assert len(options) >= 2
    assert [option for option in options if option.endswith(": chosen")]


@each
def test_says_why_and_names_good_and_bad(file: Path) -> None:
    text = body(file)
    assert "\nChosen: **" in text
    assert "\n- Good: " in text
    assert "\n- Bad: " in text


@each
def test_confirmation_names_tests_that_exist(file: Path) -> None:
    confirmation = body(file).split("### Confirmation")[1].split("## More Information")[0]
    paths = re.findall(r"`(tests/[\w/.-]+\.py)`", confirmation)
    assert paths, "Confirmation names no test"
    assert [path for path in paths if not (ROOT / path).is_file()] == []
    named = re.findall(r"`(test_\w+)`", confirmation)
    source = "".join((ROOT / path).read_text() for path in paths)
    assert [name for name in named if f"def {name}(" not in source] == []


def test_the_index_lists_nothing_else() -> None:
    assert len(re.findall(r"^- ", INDEX, flags=re.MULTILINE)) == len(FILES)


# ------------------------------------------------------------ the code


def test_what_is_cited_is_decided_now() -> None:
    """Comments and pages say why by number; the number has to lead to the reason, and not to the table of the index."""
    known = {file.name[:4] for file in FILES}
    folders = ("shared", "functions", "local", "bench", "operate", "tests")
    places = [p for folder in folders for p in (ROOT / folder).rglob("*.py")]
    places += [*(ROOT / "docs").rglob("*.md"), *(ROOT / "functions").glob("*/README.md")]
    places += [ROOT / name for name in ("template.yaml", "openapi.yaml", "Makefile", "pyproject.toml", "README.md")]
    cited = {
        (place.relative_to(ROOT).as_posix(), number)
        for place in places
        if place.is_file()
        for several in re.findall(r"ADR (\d{4}(?:(?:, | to )\d{4})*)|/adr/(\d{4})-", place.read_text())
        for number in re.findall(r"\d{4}", " ".join(several))
    }
    assert cited
    assert {pair for pair in cited if pair[1] not in known} == set()


def test_the_lifecycle_cites_what_is_decided_now() -> None:
    from delayer.ledger.model import TRANSITIONS

    assert {transition.adr for transition in TRANSITIONS} <= {int(file.name[:4]) for file in FILES}
