"""What operators do, with a stack that records what it is asked."""

from collections.abc import Mapping
from typing import Any

import pytest
from attrs import define, field

from delayer_client.operator import DeadLetters, Flow, OwnerPolicies
from delayer_client.operator.doctor import Doctor, Finding, Severity
from delayer_client.operator.errors import NoCredentials, NotAllowed
from delayer_client.operator.verify import Options, Verification
from delayer_client.operator.verify.run import begin
from tests.client.cli.conftest import Cli

KEY = "failed/040q425rvv/405e.json"
LETTER = {"key": KEY, "scheduleId": "040q425rvv", "reason": "HTTP 503", "at": "2027-01-04T08:00:00.000Z"}


@define
class Stack:
    """Answers as the functions of operators do."""

    asked: list[Mapping[str, Any]] = field(factory=list)
    answers: dict[str, Any] = field(factory=dict)
    error: Exception | None = None

    def ask(self, event: Mapping[str, Any]) -> dict[str, Any]:
        self.asked.append(event)
        if self.error:
            raise self.error
        found: dict[str, Any] = self.answers[event["command"]]
        return found

    @property
    def dead_letters(self) -> DeadLetters:
        return DeadLetters(self.ask)

    @property
    def owner_policies(self) -> OwnerPolicies:
        return OwnerPolicies(self.ask)

    @property
    def flow(self) -> Flow:
        return Flow(self.ask)


@pytest.fixture
def stack() -> Stack:
    return Stack()


@pytest.fixture
def operator(delayer: Cli, stack: Stack) -> Cli:
    return delayer.with_operators(lambda _session: stack)


def bulk(**more: Any) -> dict[str, Any]:
    counts = {
        "lookedAt": 3,
        "matched": 2,
        "redriven": 2,
        "discarded": 2,
        "refused": {},
        "until": "2027-01-04T09:00:00Z",
    }
    return {**counts, "reasons": {"HTTP 503": {"matched": 2, "sample": [KEY]}}, **more}


def test_dead_letters_are_listed_and_shown(operator: Cli, stack: Stack) -> None:
    stack.answers = {"list": {"deadLetters": [LETTER]}, "show": {"key": KEY, "body": "{}"}}
    shown = operator("dead-letters", "list").out
    assert KEY in shown
    assert "HTTP 503" in shown
    assert operator("dead-letters", "list", "--json").objects == [LETTER]
    assert operator("dead-letters", "show", KEY, "--json").objects == [{"key": KEY, "body": "{}"}]
    assert '"body"' in operator("dead-letters", "show", KEY).out


def test_one_dead_letter_is_redriven(operator: Cli, stack: Stack) -> None:
    stack.answers = {"redrive": {"schedules": [{"scheduleId": "040q425rvv", "outcome": "redriven"}]}}
    done = operator("dead-letters", "redrive", KEY)
    assert (done.status, done.out) == (0, "040q425rvv: redriven\n")
    stack.answers["redrive"]["stillStored"] = True
    assert operator("dead-letters", "redrive", KEY).status == 1


def test_many_are_counted_before_somebody_is_asked(operator: Cli, stack: Stack) -> None:
    stack.answers = {"discard": bulk()}
    refused = operator("dead-letters", "discard", "--reason", "503")
    assert refused.status == 2
    assert "Discard 2 schedules of 2 dead letters?" in refused.err
    assert "HTTP 503" in refused.err
    assert all(event["dryRun"] for event in stack.asked)
    done = operator.at_a_terminal()("dead-letters", "discard", "--reason", "503", input="y\n")
    assert done.status == 0
    assert "3 dead letters looked at, 2 matched; 2 schedules discarded, 0 left as they are.\n" in done.out
    assert stack.asked[-1]["dryRun"] is False
    assert stack.asked[-1]["where"] == {"reason": "503", "until": "2027-01-04T09:00:00Z"}


def test_a_dry_run_changes_nothing(operator: Cli, stack: Stack) -> None:
    stack.answers = {"redrive": bulk()}
    [found] = operator("dead-letters", "redrive", "--all", "--dry-run", "--json").objects
    assert (found["matched"], found["redriven"], found["dryRun"]) == (2, 2, True)
    assert [event["dryRun"] for event in stack.asked] == [True]


def test_it_has_to_be_said_which_dead_letters(operator: Cli, stack: Stack) -> None:
    assert operator("dead-letters", "redrive").status == 2
    assert operator("dead-letters", "redrive", KEY, "--all").status == 2
    assert stack.asked == []


def test_owner_policies(operator: Cli, stack: Stack) -> None:
    before = {"policy": {"a": 1}, "revision": 4, "counts": {}}
    stack.answers = {
        "show": before,
        "set": {"revision": 5},
        "list": {"default": before, "owners": [{"owner": "blue"}]},
        "remove": {},
    }
    stack.answers["try"] = {"allowed": False, "rule": "actions"}
    default, blue = operator("policy", "list").out.splitlines()[1:]
    assert (default.split()[:2], blue.split()) == (["(default)", "4"], ["blue", "null"])
    assert operator("policy", "show", "blue", "--json").objects == [before]
    assert "Replace the policy of blue (revision 4)?" in operator("policy", "set", "blue", "--policy", "{}").err
    assert operator("policy", "set", "blue", "--policy", "{}", "--yes").status == 0
    assert stack.asked[-1]["over"] == 4
    assert operator("policy", "remove", "blue", "--yes").status == 0
    tried = operator("policy", "try", "blue", "--schedule", '{"delaySeconds": 1}')
    assert tried.status == 1
    assert "Not allowed: actions" in tried.err


def test_flow(operator: Cli, stack: Stack) -> None:
    """Without an owner and a target nothing is asked for."""
    stack.answers = {"release": {"released": [], "stillSuspended": []}, "close": {"closed": []}}
    stack.answers |= {"unlimit": {"removed": []}, "suspend": {"changed": True, "suspension": {"reason": "x"}}}
    for name, flags in (("suspend", ["--reason", "x"]), ("release", []), ("close", []), ("unlimit", [])):
        assert operator("flow", name, "--of", "blue", *flags).status == 0
        assert operator("flow", name, "--of", "blue", *flags, "--json").objects == [stack.answers[name]]
        assert operator("flow", name, *flags).status == 2
    assert {one["owner"] for one in stack.asked} == {"blue"}


@pytest.mark.parametrize(
    ("error", "status"), [(NoCredentials("None."), 4), (NotAllowed("lambda:InvokeFunction"), 4)], ids=["none", "denied"]
)
def test_without_credentials_it_says_what_it_needs(operator: Cli, stack: Stack, error: Exception, status: int) -> None:
    stack.error = error
    done = operator("flow", "list")
    assert done.status == status
    assert str(error) in done.err


def finding(severity: Severity, what: str) -> Finding:
    return Finding(code="x", severity=severity, area="queues", what=what, do="Look at it.", link="operate/runbook.md")


def test_the_doctor(delayer: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [finding(Severity.PROBLEM, "It is broken."), finding(Severity.OK, "It is well.")]
    monkeypatch.setattr(Doctor, "find", lambda *_args, **_named: Doctor(None, "http://x"))
    monkeypatch.setattr(Doctor, "examine", lambda _self, _progress: found)
    done = delayer("doctor")
    assert done.status == 6
    assert "problem queues: It is broken.\n        → Look at it." in done.out
    assert "It is well." not in done.out
    assert "It is well." in delayer("doctor", "--all").out
    assert [one["severity"] for one in delayer("doctor", "--json").objects] == ["problem", "ok"]
    found.pop(0)
    assert delayer("doctor").status == 0


def test_the_region_and_the_profile_reach_whoever_asks_the_account(
    delayer: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For a domain of one's own, the URL does not say the region."""
    given: list[dict[str, Any]] = []

    def asked(*_args: Any, **named: Any) -> Any:
        given.append(named)
        raise NoCredentials("None.")

    monkeypatch.setattr(Doctor, "find", asked)
    monkeypatch.setattr(Verification, "__init__", asked)
    monkeypatch.setattr("delayer_client.operator.verify.run.find_credentials", asked)
    monkeypatch.setattr("delayer_client.console.serve", asked)
    monkeypatch.setattr("signal.signal", lambda *_: None)  # that of the tests stays
    flags = ("--url", "https://delayer.example.com", "--aws-region", "eu-west-3", "--aws-profile", "work")
    for command in (("doctor",), ("verify", "--yes"), ("console",)):
        assert delayer(*command, *flags).status == 4
    begin(Options(url="https://delayer.example.com"), profile="work", region="eu-west-3")
    assert [(one["profile"], one["region"]) for one in given] == [("work", "eu-west-3")] * 4
