"""What the page says that a cancel guarantees is what the API answers, and each promise names tests that there are."""

import re
from functools import cache

from tests.cfn import ROOT
from tests.docs.test_site import page, read_yaml


def section() -> str:
    return page("how-it-works/lifecycle.md").split("\n## What a cancel guarantees\n")[1]


@cache
def known_tests() -> frozenset[str]:
    texts = [path.read_text() for path in (ROOT / "tests").rglob("test_*.py")]
    return frozenset(name for text in texts for name in re.findall(r"^ *def (test_\w+)\(", text, re.MULTILINE))


def test_every_answer_of_the_contract_is_there() -> None:
    """But for what is said of every call: who may not, what is malformed, and a defect."""
    answers = read_yaml("openapi.yaml")["paths"]["/schedules/{id}"]["delete"]["responses"]
    first = " ".join(re.findall(r"^\| ([^|]+) \|", section(), re.MULTILINE))
    described = set(re.findall(r"\b\d{3}\b", first))
    assert described == set(answers) - {"403", "422", "500"}


def test_each_promise_names_tests_that_there_are() -> None:
    rows = [line for line in section().splitlines() if re.match(r"\| (\d{3}|503)", line)]
    assert len(rows) > 5
    assert [row for row in rows if "`test_" not in row] == []
    assert {name for name in re.findall(r"`(test_\w+)`", section()) if name not in known_tests()} == set()


def test_the_lead_is_that_of_the_template() -> None:
    lead = read_yaml("template.yaml")["Parameters"]["HandoverLead"]["Default"]
    assert f"at most {lead} milliseconds before its point in time" in section()


def test_each_reason_of_a_409_is_one_of_the_code() -> None:
    named = set(re.findall(r"^\| 409, `([a-z-]+)` \|", section(), re.MULTILINE))
    problems = (ROOT / "shared/delayer/accept/routes.py").read_text()
    assert named == {"handed-over", "ended", "may-be-running"}
    assert [kind for kind in named if f'409, "{kind}"' not in problems] == []
