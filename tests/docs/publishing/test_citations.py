"""From a decision to the code and the tests, and back; and the decisions by their dates."""

from typing import Any

import pytest

from docs.hooks import adr, citations
from tests.cfn import ROOT
from tests.docs.test_adr import FILES, front_matter, title
from tests.running.of_each import of_each

HERE: dict[str, Any] = {"repo_url": None, "extra": {"ref": "main"}, "docs_dir": str(ROOT / "docs")}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("so that it is not lost (ADR 0018).", {18}),
        ("see ADR 0018, 0020", {18, 20}),
        ("ADR 0018, 0020 and 0084", {18, 20, 84}),
        ("Decisions: [0088](../../adr/0088-an-action-is-a-class-and-a-function.md).", {88}),
        ("the year 2018, in ADR-like form", set()),
    ],
)
def test_what_a_file_cites(text: str, expected: set[int]) -> None:
    assert citations.cited(text) == expected


@of_each(FILES)
def test_each_record_leads_to_its_tests_and_to_what_cites_it(file: Any) -> None:
    number = int(file.name[:4])
    section = citations.section(number, HERE)
    confirmation = file.read_text().split("### Confirmation")[1].split("\n## ")[0]
    for path in citations.CONFIRMED.findall(confirmation):
        assert f"- `{path}`\n" in section
    for path in (path for path, numbers in citations.citing().items() if number in numbers):
        assert f"- `{path}`\n" in section


def test_the_way_back_names_the_same_pairs() -> None:
    page = citations.page_of_the_code(HERE)
    for file in FILES:
        paths = {line[3:-1] for line in citations.section(int(file.name[:4]), HERE).splitlines() if line[:3] == "- `"}
        assert paths
        for path in paths:
            [row] = [line for line in page.splitlines() if line.startswith(f"| `{path}` |")]
            assert f"[{file.name[:4]}]({file.name})" in row


def test_the_folders_of_the_code_are_searched() -> None:
    tops = {path.split("/")[0] for path in citations.citing()}
    assert {"shared", "functions", "bench", "client", "operate", "tests", "template.yaml"} <= tops


def test_the_timeline_has_each_record_once_and_below_its_date() -> None:
    page = adr.timeline(ROOT / "adr")
    dates = {part.split("\n")[0]: part for part in page.split("\n## ")[1:]}
    assert list(dates) == sorted(dates, reverse=True)
    for file in FILES:
        assert page.count(f"\n- [{file.name[:4]}]({file.name}) ") == 1
        assert f"[{file.name[:4]}]({file.name}) {title(file)}" in dates[str(front_matter(file)["date"])]
