"""What a change of the table leads to: nothing early, nothing left out."""

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.enqueue.rules import (
    AskLedger,
    Decision,
    DeleteRecord,
    Ignore,
    MoveToDeadLetters,
    NoteHeartbeat,
    Send,
    SetAside,
    decide,
    decide_far_removal,
    side_by_side,
)
from delayer.ledger.model import State
from delayer.schedule.instants import (
    DAY,
    MAX_DELAY_SECONDS,
    MINUTE,
    NEARLY_DUE,
    SECOND,
    STALE_AFTER,
    YEAR,
    Malformed,
    delay_seconds,
    edge_of,
    minute_of,
    start_of,
    within_period,
)
from delayer.schedule.table_change import ChangeKind, Heartbeat, RecordChange, known
from tests.samples import NOW, PERIOD, a_claim, a_schedule

offsets = st.one_of(st.integers(-60 * DAY, 10 * YEAR), st.integers(-MINUTE, 40 * MINUTE))  # of due, from now
periods = st.integers(60 * SECOND, 840 * SECOND)


def a_change(kind: ChangeKind, row: object) -> RecordChange:
    return RecordChange(kind=kind, sequence="1", read=known(row), record={})  # type: ignore[arg-type] # one of three kinds of row


@given(offsets)
def test_the_delay_is_one_that_sqs_takes_and_never_ends_after_due(offset: int) -> None:
    """Rounded down: the relay holds the rest. What is overdue has no delay."""
    delay = delay_seconds(NOW + offset, NOW)
    assert isinstance(delay, int)
    assert 0 <= delay <= MAX_DELAY_SECONDS
    assert delay * SECOND <= max(offset, 0)
    if 0 <= offset < MAX_DELAY_SECONDS * SECOND:
        assert offset - delay * SECOND < SECOND, "no longer a hold than needed"


@given(offsets, periods)
def test_every_remove_leads_somewhere(offset: int, period: int) -> None:
    """Sent, or looked up, or dead-lettered, whoever deleted it and however late: never left out."""
    schedule = a_schedule(NOW + offset)
    decision = decide(a_change(ChangeKind.REMOVE, schedule), NOW, period)
    match decision:
        case Send(schedule=sent, delay_seconds=delay):
            assert sent is schedule
            assert -STALE_AFTER <= offset <= NEARLY_DUE
            assert delay * SECOND <= max(offset, 0)
        case AskLedger(asked):
            assert asked is schedule
            assert offset > NEARLY_DUE
        case MoveToDeadLetters(reason=reason, schedule=moved):
            assert moved is schedule
            assert offset < -STALE_AFTER
            assert "29 days" in reason
        case _:
            pytest.fail(f"a REMOVE led to {decision}")


@given(offsets)
def test_an_overdue_schedule_is_sent_at_once(late: int) -> None:
    """Accepted a minute late, or found by the sweep after an outage of weeks: late is not lost."""
    offset = -(abs(late) % STALE_AFTER)
    assert decide(a_change(ChangeKind.REMOVE, a_schedule(NOW + offset)), NOW, PERIOD) == Send(
        schedule=a_schedule(NOW + offset), delay_seconds=0
    )


def test_the_delay_counts_to_the_point_in_time_and_not_to_the_address() -> None:
    """The address of an overdue schedule is when it was accepted; by a fast clock, that may be ahead."""
    schedule = a_schedule(NOW + 5 * SECOND, point_in_time=NOW - SECOND)
    assert decide(a_change(ChangeKind.REMOVE, schedule), NOW, PERIOD) == Send(schedule=schedule, delay_seconds=0)


@given(offsets, periods)
def test_an_insert_leads_to_a_delete_or_nothing(offset: int, period: int) -> None:
    """The only write it can lead to. Only what has left the table is sent."""
    schedule = a_schedule(NOW + offset)
    decision = decide(a_change(ChangeKind.INSERT, schedule), NOW, period)
    near = within_period(minute_of(NOW + offset), NOW, period)
    assert decision == (DeleteRecord(schedule) if near else Ignore())


@given(offsets)
def test_a_modify_is_nothing(offset: int) -> None:
    """A put that was repeated; the INSERT said it all."""
    assert decide(a_change(ChangeKind.MODIFY, a_schedule(NOW + offset)), NOW, PERIOD) == Ignore()


@given(offsets, periods, st.integers(0, DAY))
def test_what_the_fast_track_leaves_lies_ahead_of_the_sweeps_edge(offset: int, period: int, lag: int) -> None:
    """The same predicate from both sides: whenever the INSERT is read, its minute is this side of the edge or
    beyond it, and every later edge comes nearer."""
    minute = minute_of(NOW + offset)
    decision = decide(a_change(ChangeKind.INSERT, a_schedule(NOW + offset)), NOW + lag, period)
    edge = edge_of(NOW + lag, period)
    assert (decision == Ignore()) == (minute > edge)
    assert edge_of(NOW, period) <= edge


@given(periods, st.integers(0, 59_999))
def test_the_edge_holds_whole_minutes_that_fit_the_delay_of_sqs(period: int, within: int) -> None:
    """The last millisecond of the edge minute can still be reached by one delay."""
    now = NOW + within
    last = start_of(edge_of(now, period) + 1) - 1
    assert last - now < MAX_DELAY_SECONDS * SECOND
    assert within_period(minute_of(now + period), now, period)
    assert not within_period(minute_of(now + period) + 1, now, period)


@pytest.mark.parametrize("kind", list(ChangeKind))
def test_a_heartbeat_is_noted_when_it_leaves(kind: ChangeKind) -> None:
    decision = decide(a_change(kind, Heartbeat(sent_at=NOW)), NOW, PERIOD)
    assert decision == (NoteHeartbeat(Heartbeat(sent_at=NOW)) if kind is ChangeKind.REMOVE else Ignore())


@pytest.mark.parametrize("kind", list(ChangeKind))
def test_what_nobody_can_read_is_dead_lettered_when_it_leaves(kind: ChangeKind) -> None:
    """Until then, it is safe in the table."""
    decision = decide(a_change(kind, Malformed("no owner")), NOW, PERIOD)
    assert decision == (MoveToDeadLetters(reason="no owner") if kind is ChangeKind.REMOVE else Ignore())


@pytest.mark.parametrize("state", list(State))
def test_a_far_removal_without_a_word_in_the_ledger_is_dead_lettered(state: State) -> None:
    """Neither fired early nor forgotten."""
    schedule = a_schedule(NOW + DAY)
    decision = decide_far_removal(schedule, a_claim(state=state))
    if state in (State.CANCELLED, State.REPLACED):
        assert decision == Ignore()
    else:
        assert isinstance(decision, MoveToDeadLetters)
        assert decision.schedule is schedule
    assert isinstance(decide_far_removal(schedule, None), MoveToDeadLetters)


def test_the_limit_of_far_is_thirty_minutes() -> None:
    assert isinstance(decide(a_change(ChangeKind.REMOVE, a_schedule(NOW + NEARLY_DUE)), NOW, PERIOD), Send)
    assert isinstance(decide(a_change(ChangeKind.REMOVE, a_schedule(NOW + NEARLY_DUE + 1)), NOW, PERIOD), AskLedger)
    assert NEARLY_DUE > PERIOD + MINUTE, "what the sweep deletes is nearly due"


def test_all_decisions_are_covered_here() -> None:
    assert set(get_args(Decision)) == {
        DeleteRecord,
        Send,
        AskLedger,
        MoveToDeadLetters,
        SetAside,
        NoteHeartbeat,
        Ignore,
    }


@given(st.lists(st.integers(0, 20 * SECOND), max_size=35))
def test_those_of_one_request_leave_the_queue_together_and_none_after_it_is_due(dues: list[int]) -> None:
    """All are sent, in due order; no delay ends after due, and none more than two seconds before."""
    removed = [
        (
            a_change(ChangeKind.REMOVE, a_schedule(NOW + due)),
            Send(schedule=a_schedule(NOW + due), delay_seconds=delay_seconds(NOW + due, NOW)),
        )
        for due in dues
    ]
    aligned = side_by_side(removed)
    assert [change for change, _ in aligned] == sorted(
        (change for change, _ in removed),
        key=lambda change: change.row.point_in_time,  # type: ignore[union-attr] # schedules
    )
    for _, send in aligned:
        early = send.schedule.point_in_time - (NOW + send.delay_seconds * SECOND)
        assert 0 <= early < 2 * SECOND


def test_a_request_of_neighbours_has_one_delay() -> None:
    """Ten due within a second that a whole second cuts in two."""
    removed = [
        (
            a_change(ChangeKind.REMOVE, a_schedule(NOW + due)),
            Send(schedule=a_schedule(NOW + due), delay_seconds=delay_seconds(NOW + due, NOW)),
        )
        for due in range(5_500, 6_500, 100)
    ]
    assert {send.delay_seconds for _, send in removed} == {5, 6}
    assert {send.delay_seconds for _, send in side_by_side(removed)} == {5}
