"""Each problem that the API or the door of one machine can answer is on a page, by the end of its type."""

import re
from pathlib import Path

from tests.cfn import ROOT

# As a field of a problem, and as what is given to the function that makes one.
KIND = re.compile(r"""\bkind(?:: ClassVar\[str\])? = "([a-z][a-z0-9-]+)"|\bproblem\(\s*\d{3},\s*"([a-z0-9-]+)\"""")
ERRORS = "docs/use/api.md"
BESIDE = ("docs/use/series.md", "docs/use/signatures.md", "docs/use/connections.md")  # calls with reasons of their own


def kinds(folder: Path) -> set[str]:
    """The ends of all types that the code in a folder answers with."""
    texts = (path.read_text() for path in folder.rglob("*.py"))
    return {one or other for text in texts for one, other in KIND.findall(text)}


def named(*pages: str) -> set[str]:
    """The words in code spans, and the ends of types that examples have."""
    text = "".join((ROOT / page).read_text() for page in pages)
    return {*re.findall(r"`([a-z0-9-]+)`", text), *re.findall(r"urn:delayer:problem:([a-z0-9-]+)", text)}


def test_kinds_are_found() -> None:
    assert {"not-json", "over-quota", "on-its-way", "unknown-token", "not-now"} <= kinds(ROOT / "shared/delayer")


def test_each_problem_is_on_a_page() -> None:
    assert kinds(ROOT / "shared/delayer") - named(ERRORS, *BESIDE) == set()


def test_those_of_one_machine_are_on_the_page_of_errors() -> None:
    assert kinds(ROOT / "shared/delayer/serve") - named(ERRORS) == set()
