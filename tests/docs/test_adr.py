"""The decision records keep their form, and each names a test that exists (ADR 0001)."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.running.of_each import of_each

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "adr").glob("[0-9]*.md"))
STATUSES = {"proposed", "accepted", "rejected", "deprecated", "superseded"}
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
LONGEST = 800  # words: about a page


@cache
def front_matter(file: Path) -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.load(file.read_text().split("---\n")[1], Loader=yaml.CSafeLoader)
    return parsed


def numbers(matter: dict[str, Any], key: str) -> list[int]:
    """One number, several, or none."""
    value = matter.get(key, [])
    return value if isinstance(value, list) else [value]


@cache
def body(file: Path) -> str:
    return file.read_text().split("---\n", 2)[2]


def title(file: Path) -> str:
    found = re.search(r"^# (.+)$", body(file), flags=re.MULTILINE)
    assert found
    return found[1]


def record(number: int) -> Path:
    return next(file for file in FILES if file.name.startswith(f"{number:04d}-"))


STUBS = [file for file in FILES if front_matter(file)["status"] == "superseded"]
WHOLE = [file for file in FILES if file not in STUBS]

each = of_each(FILES)
each_whole = of_each(WHOLE)
each_stub = of_each(STUBS)


def test_numbers_are_consecutive_from_one() -> None:
    assert [int(file.name[:4]) for file in FILES] == list(range(1, len(FILES) + 1))


@each
def test_name_and_front_matter(file: Path) -> None:
    matter = front_matter(file)
    assert re.fullmatch(r"\d{4}(-[a-z0-9]+)+\.md", file.name)
    assert matter["number"] == int(file.name[:4])
    assert matter["status"] in STATUSES
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(matter["date"]))
    assert set(matter) <= {"number", "status", "date", "supersedes", "superseded-by"}


@each
def test_supersession_is_stated_on_both_sides(file: Path) -> None:
    matter = front_matter(file)
    assert ("superseded-by" in matter) == (matter["status"] == "superseded")
    for here, there in (("supersedes", "superseded-by"), ("superseded-by", "supersedes")):
        for other in numbers(matter, here):
            assert matter["number"] in numbers(front_matter(record(other)), there)


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
def test_links_lead_to_what_is_decided_now(file: Path) -> None:
    """A stub is for those who come from outside."""
    stubs = {stub.name for stub in STUBS}
    assert [target for _, target in LINK.findall(body(file)) if target in stubs] == []


@each
def test_is_in_the_index_once_with_its_title(file: Path) -> None:
    """The sidebar is made from it; what is superseded is marked."""
    index = (ROOT / "adr/index.md").read_text()
    by = numbers(front_matter(file), "superseded-by")
    mark = f" (superseded by {by[0]:04d})" if by else ""
    assert index.count(f"]({file.name})") == 1 + (file.name[:4] == "0001")  # the preface names the first
    assert index.count(f"- [{file.name[:4]}]({file.name}) {title(file)}{mark}\n") == 1


@each_whole
def test_sections(file: Path) -> None:
    headings = re.findall(r"^##.*$", body(file), flags=re.MULTILINE)
    assert [heading for heading in headings if heading not in OPTIONAL_SECTIONS] == SECTIONS
    assert len(re.findall(r"^# .+$", body(file), flags=re.MULTILINE)) == 1


@each_whole
def test_is_about_a_page_at_most(file: Path) -> None:
    assert len(body(file).split()) <= LONGEST


@each_whole
def test_each_option_is_chosen_or_rejected_with_its_reason(file: Path) -> None:
    section = body(file).split("## Considered Options")[1].split("## Decision Outcome")[0]
    options = [line for line in section.splitlines() if line]
    assert [option for option in options if not OPTION.fullmatch(option)] == []
    assert len(options) >= 2
    assert [option for option in options if option.endswith(": chosen")]


@each_whole
def test_says_why_and_names_good_and_bad(file: Path) -> None:
    text = body(file)
    assert "\nChosen: **" in text
    assert "\n- Good: " in text
    assert "\n- Bad: " in text


@each_whole
def test_confirmation_names_tests_that_exist(file: Path) -> None:
    confirmation = body(file).split("### Confirmation")[1].split("## More Information")[0]
    paths = re.findall(r"`(tests/[\w/.-]+\.py)`", confirmation)
    assert paths, "Confirmation names no test"
    assert [path for path in paths if not (ROOT / path).is_file()] == []
    named = re.findall(r"`(test_\w+)`", confirmation)
    source = "".join((ROOT / path).read_text() for path in paths)
    assert [name for name in named if f"def {name}(" not in source] == []


@each_stub
def test_a_superseded_record_is_one_sentence_and_the_link(file: Path) -> None:
    """What was decided is told in one place."""
    [heading, sentence] = [part for part in body(file).strip().split("\n\n") if part]
    assert heading == f"# {title(file)}"
    assert sentence.count("\n") == 0
    [by] = numbers(front_matter(file), "superseded-by")
    assert sentence.startswith(f"Superseded by [ADR {by:04d}]({record(by).name}): ")


def test_the_index_lists_nothing_else() -> None:
    index = (ROOT / "adr/index.md").read_text()
    assert len(re.findall(r"^- ", index, flags=re.MULTILINE)) == len(FILES)


# ------------------------------------------------------------ the code


def test_what_is_cited_is_decided_now() -> None:
    """Comments and pages say why by number; the number has to lead to the reason, and not to a stub."""
    known = {file.name[:4] for file in WHOLE}
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
    from delayer.core.ledger.lifecycle import TRANSITIONS

    assert {transition.adr for transition in TRANSITIONS} <= {int(file.name[:4]) for file in WHOLE}
