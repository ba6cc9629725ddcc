"""A run as a whole: in which order, with which credentials, what it removes, and how it ends."""

from typing import Any

import boto3
import pytest

from delayer_client.operator.credentials import Aws, region_in
from delayer_client.operator.verify import PARTS, Options, run
from delayer_client.operator.verify.api import NoAnswer, WithSignature, WithToken, unsigned
from delayer_client.operator.verify.results.findings import Finding, Outcome, broken, exit_status, held, unchecked
from delayer_client.operator.verify.results.report import report_of
from tests.client.operator.verify.fakes import FakeStack, a_session

URL = "https://abc.execute-api.eu-west-1.amazonaws.com"


def with_keys() -> Aws:
    session = boto3.Session(aws_access_key_id="AKIA", aws_secret_access_key="s")
    return Aws(session=session, region="eu-west-1")


def test_a_token_is_not_printed() -> None:
    assert "secret" not in repr(Options(url=URL, token="secret")) + repr(WithToken(token="secret"))


def test_how_calls_are_signed() -> None:
    """A token if there is one; a signature if the stack wants one, or if nobody can tell."""
    assert run.signer("t", "AWS_IAM", with_keys()) == WithToken(token="t")
    for authorization in ("AWS_IAM", ""):
        chosen = run.signer("", authorization, with_keys())
        assert isinstance(chosen, WithSignature)
        assert chosen.region == "eu-west-1"
    assert run.signer("", "NONE", with_keys()) is unsigned
    assert run.signer("", "AWS_IAM", None) is unsigned
    assert region_in(URL) == "eu-west-1"
    assert region_in("http://localhost:8080") == ""


def outcomes(session: Any) -> dict[str, Outcome]:
    return {finding.promise: finding.outcome for finding in session.findings}


def test_without_credentials_it_says_what_it_cannot_check() -> None:
    """What needs the API alone is checked all the same."""
    session: Any = a_session(FakeStack(), with_account=False)
    session.inbox, session.why_no_account = None, "boto3 finds no AWS credentials"
    run.verify(session)
    found = outcomes(session)
    assert found.pop("refused: a private target is not reached") is Outcome.HELD
    assert found.pop("signatures: a secret can be had, and verifies") is Outcome.HELD
    rest = [part for part in PARTS if part not in ("refused", "signatures")]
    assert found == dict.fromkeys(rest, Outcome.UNCHECKED)
    assert all("no AWS credentials" in one.detail for one in session.findings if one.outcome is Outcome.UNCHECKED)
    assert exit_status(session.findings) == 1


def test_a_pattern_without_room_for_a_queue() -> None:
    stack = FakeStack(parameters={"SqsTargetNamePattern": "my-queue"})
    session: Any = a_session(stack, parts=("near",))
    run.verify(session)
    assert "leaves no name for a queue" in session.findings[0].detail


def test_without_sqs_send_nothing_can_arrive() -> None:
    """What needs the API alone is checked; a refused target needs http-request."""
    session: Any = a_session(FakeStack(parameters={"Actions": "step-start,remote,canary"}))
    session.inbox = None
    run.verify(session)
    found = outcomes(session)
    assert found.pop("signatures: a secret can be had, and verifies") is Outcome.HELD
    assert set(found.values()) == {Outcome.UNCHECKED}
    reasons = {one.detail for one in session.findings if one.outcome is Outcome.UNCHECKED}
    assert [reason for reason in reasons if "Actions leaves out" not in reason] == []


def test_a_stack_without_other_actions_is_checked() -> None:
    session: Any = a_session(FakeStack(parameters={"Actions": "http-request, sqs-send,remote,canary"}))
    assert session.has_action("http-request")
    assert session.has_action("sqs-send")
    assert not session.has_action("step-start")


def test_a_policy_that_the_stack_does_not_have_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """By default it has none. Without credentials it is taken for granted that it is there."""
    stack = FakeStack(parameters={"Policies": "spread"})
    session: Any = a_session(stack, parts=("policies", "refused"))
    monkeypatch.setattr(run, "open_inbox", lambda session: stack.inbox)
    run.verify(session)
    assert list(outcomes(session)) == [one for one in outcomes(session) if "policies" not in one]
    assert Outcome.UNCHECKED not in outcomes(session).values()
    assert session.has_policy("spread")
    session.account = None
    assert session.has_policy("next-business-hour")


def test_a_lane_that_the_stack_does_not_have_is_not_tried() -> None:
    """Older stacks, which have no such parameter, have the lane."""
    without: Any = a_session(FakeStack(parameters={"Lanes": "none"}))
    with_it: Any = a_session(FakeStack())
    inbox: Any = None
    assert set(run.checks(with_it, inbox, inbox)) - set(run.checks(without, inbox, inbox)) == {"relaxed"}
    assert not without.has_lane("relaxed")
    without.account = None
    assert without.has_lane("relaxed")


def test_a_call_that_fails_breaks_its_part_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    stack = FakeStack()
    session: Any = a_session(stack, parts=("near", "refused"))
    monkeypatch.setattr(run, "open_inbox", lambda session: stack.inbox)

    def fails(*_: object) -> Any:
        raise NoAnswer("POST /schedules: 503")

    monkeypatch.setattr(run, "near", fails)
    run.verify(session)
    assert list(outcomes(session).values()) == [Outcome.BROKEN, Outcome.HELD]
    assert session.findings[0].detail == "POST /schedules: 503"


def test_a_clock_that_is_wrong_is_said_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every instant of the run would be wrong with it."""
    stack = FakeStack(clock=-90.0)
    session: Any = a_session(stack)
    monkeypatch.setattr(run, "open_inbox", lambda session: stack.inbox)
    run.verify(session)
    [finding] = session.findings
    assert finding.outcome is Outcome.BROKEN
    assert "-90 s" in finding.detail


def test_what_has_not_arrived_is_cancelled_in_the_end_even_after_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    stack = FakeStack(late=())
    session: Any = a_session(stack, parts=("near",))
    monkeypatch.setattr(run, "open_inbox", lambda session: stack.inbox)

    def stopped(*_: object) -> Any:
        session.schedule(0, stack.inbox.action())
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "near", stopped)
    with pytest.raises(KeyboardInterrupt):
        run.verify(session)
    assert [call for call in stack.calls if call.startswith("DELETE")] == [f"DELETE /schedules/s{n}" for n in range(3)]
    assert not stack.inbox.is_open
    assert (session.bill.schedules, session.bill.calls, session.bill.cancels) == (3, 7, 2), "it costs all the same"


FINDINGS = {
    "held": held("near", "5 of 5"),
    "broken": broken("races", "[red] is no markup"),
    "unchecked": unchecked("canary", "no credentials"),
}


@pytest.mark.parametrize(
    ("names", "status", "said"),
    [
        (["held"], 0, "Every promise that was checked holds."),
        (["held", "broken", "unchecked"], 1, "1 promises do not hold."),
        (["held", "unchecked"], 1, "1 promises could not be checked"),
        ([], 1, "could not be checked"),
    ],
)
def test_the_exit_status_and_the_conclusion(names: list[str], status: int, said: str) -> None:
    session: Any = a_session(FakeStack())
    session.findings = [FINDINGS[name] for name in names]
    assert exit_status(session.findings) == status
    report = report_of(session.findings, session.lateness, session.bill)
    assert (report.exit_status, said in report.conclusion) == (status, True)
    assert [one["detail"] for one in report.as_dict()["findings"]] == [one.detail for one in report.findings]


def test_findings_are_values() -> None:
    assert held("a", "b") == Finding(promise="a", outcome=Outcome.HELD, detail="b")
