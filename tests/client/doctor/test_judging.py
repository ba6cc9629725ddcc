"""Whatever was seen, the doctor concludes something, and what is well is never said beside what is not."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer_client.operator.doctor import Finding, Severity
from delayer_client.operator.doctor.facts import (
    AlarmFacts,
    CanaryFacts,
    FunctionFacts,
    Queue,
    QueueFacts,
    Reader,
    StoredFacts,
    StreamFacts,
    TickFacts,
    TickRows,
    TickRule,
    Unseen,
)
from delayer_client.operator.doctor.gather.alarms import alarms as gathered
from delayer_client.operator.doctor.judge import account, queues, readers, unseen, waiting
from delayer_client.operator.doctor.judge.alarms import judge as judge_alarms
from delayer_client.operator.doctor.judge.each_minute import canary, ticks
from tests.client.doctor.account import NOW

counts = st.integers(0, 20_000)
ages = st.integers(-120, 100_000).map(lambda seconds: NOW - timedelta(seconds=seconds))
names = st.sampled_from(
    ["DelayerQueue", "JournalQueue", "SeriesQueue", "SweepDeadLetterQueue", "SuspectsQueue", "PolicyspreadQueue"]
)
some_queues = st.builds(Queue, name=names, visible=counts, delayed=counts, in_flight=counts)
rows = st.builds(
    TickRows,
    swept_at=st.none() | ages,
    closed_until=st.none() | ages,
    heartbeat_at=st.none() | ages,
    awaited=st.lists(ages, max_size=3).map(sorted),
)


def severities(findings: list[Finding]) -> set[Severity]:
    return {one.severity for one in findings}


def says_one_or_the_other(findings: list[Finding]) -> None:
    assert findings
    assert (severities(findings) == {Severity.OK}) is (Severity.OK in severities(findings))
    assert all(one.what and (one.do or one.severity is Severity.OK) for one in findings)


@given(st.lists(some_queues, max_size=5, unique_by=lambda queue: queue.name), st.dictionaries(names, st.floats(0, 1e6)))
def test_queues(some: list[Queue], known: dict[str, float]) -> None:
    findings = list(queues.judge(QueueFacts(queues=some, ages=known)))
    says_one_or_the_other(findings)
    back = {one.name for one in some if ("DeadLetter" in one.name or "Suspects" in one.name) and one.visible}
    assert back <= {one.about for one in findings}


@given(rows, ages)
def test_ticks(seen: TickRows, created_at: Any) -> None:
    """One conclusion; well only if some sign is fresh."""
    [finding] = ticks.judge(TickFacts(rows=seen, rule=TickRule(state="ENABLED"), created_at=created_at), NOW)
    says_one_or_the_other([finding])
    signs = [sign for sign in (seen.swept_at, seen.heartbeat_at, *seen.awaited) if sign]
    if finding.severity is Severity.OK:
        assert max(signs) >= NOW - ticks.LATE
        assert not seen.awaited or min(seen.awaited) >= NOW - ticks.LATE
    if signs and max(signs) < NOW - ticks.LATE:
        assert finding.severity is Severity.PROBLEM


@pytest.mark.parametrize(("state", "said"), [("ENABLED", []), ("DISABLED", ["is disabled"]), ("", ["is gone"])])
def test_a_rule_that_is_off_is_said(state: str, said: list[str]) -> None:
    missing = Unseen(why="no", permission="dynamodb:GetItem")
    facts = TickFacts(rows=missing, rule=TickRule(name="EveryMinute", state=state), created_at=NOW)
    found = list(ticks.judge(facts, NOW))
    assert [one.about for one in found] == ["EveryMinute"] * len(said)
    assert all(words in one.what for words, one in zip(said, found, strict=True))
    [other] = unseen.judge(facts, "ticks")
    assert (other.about, other.area, other.severity) == ("dynamodb:GetItem", "ticks", Severity.UNKNOWN)


@given(st.lists(st.sampled_from(["Enabled", "Disabled", "Disabling", "Creating", "Enabling", ""]), max_size=4))
def test_mappings(states: list[str]) -> None:
    known = [
        Reader(name=str(at), function="delayer-stream-enqueuer", source="arn:aws:dynamodb:x", state=state)
        for at, state in enumerate(states)
    ]
    findings = list(readers.judge(known))
    says_one_or_the_other(findings)
    assert len([one for one in findings if one.about]) == len([state for state in states if state != "Enabled"])


@given(st.dictionaries(st.sampled_from(["a-stream-enqueuer", "a-relaxed-claimer"]), st.none() | st.floats(0, 1e8)))
def test_streams(behind: dict[str, float | None]) -> None:
    says_one_or_the_other(list(readers.judge_streams(StreamFacts(behind=behind))))


@given(st.dictionaries(st.text(min_size=1), st.integers(1, 9), min_size=1, max_size=30), st.integers(0, 400))
def test_reasons_are_cut(reasons: dict[str, int], longer: int) -> None:
    """A reason may quote whole answers, and each may be another."""
    written = {reason + "x" * longer: number for reason, number in reasons.items()}
    [finding] = waiting.judge_dead_letters(StoredFacts(reasons={"failed/": written}, is_whole=True))
    assert finding.data["number"] == sum(written.values())
    shown = finding.data["reasons"]
    assert len(shown) <= 20
    assert all(len(reason) <= 200 for reason in shown)
    assert sum(shown.values()) == sum(sorted(written.values(), reverse=True)[:20])


@pytest.mark.parametrize(("number", "says"), [(1, "1 invocation of f ended"), (2, "2 invocations of f ended")])
def test_one_invocation_is_one(number: int, says: str) -> None:
    [finding] = account.judge_functions(FunctionFacts(errors={"f": number}, throttles={}))
    assert says in finding.what


values = st.lists(st.floats(0, 1e5), max_size=5)


@given(st.booleans(), values, values, ages, st.integers(60, 840))
def test_canaries(is_on: bool, near: list[float], far: list[float], created_at: Any, period: int) -> None:
    facts = CanaryFacts(is_on=is_on, near=near, far=far, created_at=created_at, period_seconds=period)
    findings = list(canary.judge(facts, NOW))
    assert len(findings) == (2 if is_on else 1)
    for one, figures in zip(findings, (near, far), strict=False):
        assert not is_on or (one.code in ("canary-arrives", "canary-late")) is bool(figures)


class Described:
    """A stack with one alarm that rings by silence, and one that does not."""

    outputs: ClassVar = {"AlarmTopic": "topic"}

    def __init__(self, state: str, age: timedelta, *, is_local: bool = False) -> None:
        self.is_local = is_local
        described = {"AlarmName": "n", "StateValue": state, "StateUpdatedTimestamp": NOW - age, "AlarmActions": ["t"]}
        self.alarms = [{**described, "InsufficientDataActions": ["t"]}, {**described, "AlarmName": "m"}]

    def resources_of(self, _: str) -> list[Any]:
        return [SimpleNamespace(physical_id=name, logical_id=name.upper()) for name in ("n", "m")]

    def client(self, _: str) -> Any:
        return SimpleNamespace(describe_alarms=lambda **_: {"MetricAlarms": self.alarms})


@pytest.mark.parametrize(
    ("state", "minutes", "is_local", "rings"),
    [
        ("INSUFFICIENT_DATA", 30, False, ["N"]),
        ("INSUFFICIENT_DATA", 10, False, []),
        ("INSUFFICIENT_DATA", 30, True, []),
        ("OK", 30, False, []),
        ("ALARM", 1, False, ["N", "M"]),
    ],
)
def test_an_alarm_that_rings_by_silence_is_said(state: str, minutes: int, *, is_local: bool, rings: list[str]) -> None:
    """CloudWatch has no state for it. A new stack has no data yet, and one machine never has."""
    stack: Any = Described(state, timedelta(minutes=minutes), is_local=is_local)
    found = AlarmFacts(alarms=gathered(stack, NOW), subscribers=1, is_local=is_local)
    assert [one.about for one in judge_alarms(found) if one.code == "alarm-rings"] == rings
