"""What the emulator has no source for: figures, quotas and states, as AWS documents its answers."""

from functools import cache
from itertools import chain
from typing import Any

import pytest

from delayer_client.operator.doctor import CATALOGUE, Doctor, Entry, Finding, Severity, worst
from delayer_client.operator.doctor.doctor import examine_stack
from tests.client.doctor.account import NOW, RECORDED, a_stack, recorded, well
from tests.client.doctor.test_api import ANSWERS, ANY_HOST, CLOCKS
from tests.e2e.python_client.test_doctor import ILLS
from tests.running.of_each import of_each

SCENARIOS = sorted(path.stem for path in RECORDED.glob("*.json") if path.stem != "well")
NOWHERE = "http://127.0.0.1:9"


def test_an_account_in_which_all_is_well() -> None:
    findings = examine_stack(a_stack(well()), NOW)
    assert worst(findings) is Severity.OK, findings
    assert {"streams-keep-up", "canary-arrives", "alarms-heard", "concurrency-enough"} <= {one.code for one in findings}


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_recorded_is_found_and_nothing_else(name: str) -> None:
    content = recorded(name)
    wanted = content["finds"]
    ill: list[Finding] = [
        one for one in examine_stack(a_stack(well().under(content)), NOW) if one.severity is not Severity.OK
    ]
    assert [(one.code, one.about) for one in ill] == [(wanted["code"], wanted["about"])], ill
    assert ill[0].what


@cache
def codes_found() -> frozenset[str]:
    """By the tests that look for a finding: in files, at a real address, and in a stack that is broken."""
    in_files = [examine_stack(a_stack(well().under(recorded(name))), NOW) for name in SCENARIOS]
    findings = [*examine_stack(a_stack(well()), NOW), *Doctor(None, NOWHERE).examine(), *chain(*in_files)]
    asked_for = [
        ANY_HOST,
        *(code for _, _, code in ANSWERS),
        *(code for _, code, _ in CLOCKS),
        *(ill.code for ill in ILLS),
    ]
    return frozenset([*(one.code for one in findings), *asked_for])


@of_each(CATALOGUE)
def test_every_kind_of_finding_has_a_test(entry: Entry) -> None:
    """That finds it: to be named somewhere is not enough."""
    assert entry.code in codes_found()


@of_each(
    [
        ("Output", "ControlTable", None, {"ticks"}),
        ("Output", "AlarmTopic", None, {"alarms"}),
        ("Parameter", "DelayerPeriod", "long", {"canary"}),
    ],
    unpacked=True,
)
def test_what_a_stack_of_another_version_lacks_is_not_seen(
    kind: str, name: str, value: str | None, areas: set[str]
) -> None:
    """All else is looked at."""
    described = recorded("well")["answers"]["cloudformation.DescribeStacks"]
    [stack] = described["Stacks"]
    kept = [one for one in stack[f"{kind}s"] if one[f"{kind}Key"] != name]
    stack[f"{kind}s"] = kept + ([{f"{kind}Key": name, f"{kind}Value": value}] if value else [])
    findings = examine_stack(a_stack(well().under({"answers": {"cloudformation.DescribeStacks": described}})), NOW)
    ill = [one for one in findings if one.severity is not Severity.OK]
    assert {(one.code, one.area) for one in ill} == {("not-seen", area) for area in areas}
    assert all("another version" in one.what for one in ill)
    assert "functions-well" in {one.code for one in findings}


def test_an_answer_of_another_version_is_not_seen() -> None:
    """What operator-flow of an older stack does not list."""
    content: dict[str, Any] = {"functions": {"delayer-operator-flow": {"suspensions": []}}}
    findings = examine_stack(a_stack(well().under(content)), NOW)
    assert [(one.code, one.area) for one in findings if one.severity is not Severity.OK] == [("not-seen", "flow")]
