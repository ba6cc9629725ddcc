"""The decision records keep their form, and each names a test that exists (ADR 0001)."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

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


def front_matter(file: Path) -> dict[str, Any]:
    parsed: dict[str, Any] = yaml.safe_load(file.read_text().split("---\n")[1])
    return parsed


def body(file: Path) -> str:
    return file.read_text().split("---\n", 2)[2]


def record(number: int) -> Path:
    return next(file for file in FILES if file.name.startswith(f"{number:04d}-"))


def test_numbers_are_consecutive_from_one() -> None:
    assert [int(file.name[:4]) for file in FILES] == list(range(1, len(FILES) + 1))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
class TestRecord:
    def test_name_and_front_matter(self, file: Path) -> None:
        matter = front_matter(file)
        assert re.fullmatch(r"\d{4}(-[a-z0-9]+)+\.md", file.name)
        assert matter["number"] == int(file.name[:4])
        assert matter["status"] in STATUSES
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(matter["date"]))
        assert set(matter) <= {"number", "status", "date", "supersedes", "superseded-by"}

    def test_supersession_is_stated_on_both_sides(self, file: Path) -> None:
        matter = front_matter(file)
        assert ("superseded-by" in matter) == (matter["status"] == "superseded")
        for here, there in (("supersedes", "superseded-by"), ("superseded-by", "supersedes")):
            if here in matter:
                assert front_matter(record(matter[here]))[there] == matter["number"]

    def test_sections(self, file: Path) -> None:
        headings = re.findall(r"^##.*$", body(file), flags=re.MULTILINE)
        assert [heading for heading in headings if heading not in OPTIONAL_SECTIONS] == SECTIONS
        assert len(re.findall(r"^# .+$", body(file), flags=re.MULTILINE)) == 1

    def test_weighs_options_and_names_good_and_bad(self, file: Path) -> None:
        text = body(file)
        options = text.split("## Considered Options")[1].split("## Decision Outcome")[0]
        assert len(re.findall(r"^- ", options, flags=re.MULTILINE)) >= 2
        assert "Chosen: **" in text
        assert "\n- Good: " in text
        assert "\n- Bad: " in text

    def test_no_placeholder(self, file: Path) -> None:
        assert not PLACEHOLDERS.search(re.sub(r"`[^`]*`", "", body(file)))

    def test_confirmation_names_tests_that_exist(self, file: Path) -> None:
        confirmation = body(file).split("### Confirmation")[1].split("## More Information")[0]
        paths = re.findall(r"`(tests/[\w/.-]+\.py)`", confirmation)
        assert paths, "Confirmation names no test"
        assert [path for path in paths if not (ROOT / path).is_file()] == []
        named = re.findall(r"`(test_\w+)`", confirmation)
        source = "".join((ROOT / path).read_text() for path in paths)
        assert [name for name in named if f"def {name}(" not in source] == []

    def test_links_and_their_numbers(self, file: Path) -> None:
        for text, target in LINK.findall(body(file)):
            assert (ROOT / "adr" / target).is_file(), target
            assert text == f"ADR {target[:4]}"
        unlinked = re.findall(r"(?<!\[)ADR \d{4}", body(file))
        assert unlinked == []

    def test_is_in_the_index_once_with_its_title(self, file: Path) -> None:
        title = re.search(r"^# (.+)$", body(file), flags=re.MULTILINE)
        assert title
        index = (ROOT / "adr/index.md").read_text()
        assert index.count(f"- [{file.name[:4]}]({file.name}) {title[1]}\n") == 1

    def test_is_on_the_site(self, file: Path) -> None:
        assert (ROOT / "mkdocs.yml").read_text().count(f": adr/{file.name}\n") == 1


def test_code_cites_only_records_that_exist() -> None:
    """Comments say why by number; the number has to lead somewhere."""
    known = {file.name[:4] for file in FILES}
    places = [p for folder in ("shared", "functions", "local", "bench") for p in (ROOT / folder).rglob("*.py")]
    places += [ROOT / name for name in ("template.yaml", "openapi.yaml", "Makefile", "pyproject.toml")]
    cited = {
        (place.relative_to(ROOT).as_posix(), number)
        for place in places
        if place.is_file()
        for number in re.findall(r"ADR (\d{4})", place.read_text())
    }
    assert {pair for pair in cited if pair[1] not in known} == set()


def test_the_lifecycle_cites_records_that_exist() -> None:
    from delayer.core.lifecycle import TRANSITIONS

    assert {transition.adr for transition in TRANSITIONS} <= {int(file.name[:4]) for file in FILES}
