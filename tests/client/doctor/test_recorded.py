"""What the emulator has no source for: figures, quotas and states, as AWS documents its answers."""

from pathlib import Path

import pytest

from delayer_client.operator.doctor import CATALOGUE, Finding, Severity, worst
from delayer_client.operator.doctor.doctor import examine_stack
from tests.cfn import ROOT
from tests.client.doctor.account import NOW, RECORDED, a_stack, recorded, well

SCENARIOS = sorted(path.stem for path in RECORDED.glob("*.json") if path.stem != "well")
ELSEWHERE = ("tests/e2e/python_client/test_doctor.py", "tests/client/doctor/test_api.py")


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


@pytest.mark.parametrize("entry", CATALOGUE, ids=lambda entry: entry.code)
def test_every_kind_of_finding_has_a_test(entry: object) -> None:
    """A file of its own, or a name in a test that breaks a real stack or asks a real address."""
    code = getattr(entry, "code", "")
    texts = [(ROOT / path).read_text() for path in (*ELSEWHERE, str(Path(__file__).relative_to(ROOT)))]
    assert code in SCENARIOS or any(f'"{code}"' in text for text in texts)
