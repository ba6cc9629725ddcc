"""What the removal of a record from the relaxed table means."""

from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.enqueue.rules import AskLedger, Ignore, MoveToDeadLetters, SetAside
from delayer.flow.rules.gate import Go
from delayer.ledger.model import State
from delayer.relay.rules import (
    BY_OTHERS,
    EARLY,
    STALE,
    DropLate,
    RelaxedDecision,
    decide_other_removal,
    decide_relaxed,
)
from delayer.schedule.instants import (
    DAY,
    HOUR,
    MAX_HOLD,
    MINUTE,
    SECOND,
    STALE_AFTER,
    TTL_MARGIN,
    Malformed,
    Millis,
    UnknownVersion,
)
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import IdKind
from delayer.schedule.table_change import ChangeKind, Heartbeat, RecordChange, known
from tests.samples import NOW, a_claim, a_relaxed_schedule, a_schedule, an_id

TYPES = {"http-request"}
RELAXED = a_relaxed_schedule()


def removed(row: Any = RELAXED, kind: ChangeKind = ChangeKind.REMOVE, *, expired: bool = True) -> RecordChange:
    return RecordChange(kind=kind, sequence="1", read=known(row), record=None, event="e1", expired=expired)


def decided(change: RecordChange, now: Millis = NOW, types: set[str] = TYPES) -> RelaxedDecision:
    return decide_relaxed(change, now, types)


@pytest.mark.parametrize("late", [0, 1, 3 * DAY, STALE_AFTER])
def test_what_the_ttl_has_removed_fires_however_late(late: Millis) -> None:
    """With the id of the stream's record as its nonce."""
    decision = decided(removed(), NOW + late)
    assert isinstance(decision, Go)
    assert (decision.message.schedule, decision.message.nonce) == (RELAXED, "e1")


def test_beyond_its_margin_a_ledger_row_may_have_expired() -> None:
    decision = decided(removed(), NOW + STALE_AFTER + 1)
    assert decision == MoveToDeadLetters(reason=STALE, schedule=RELAXED)


def test_its_own_rule_may_drop_it() -> None:
    schedule = evolve(RELAXED, definition=evolve(RELAXED.definition, on_late='{"after":"PT1H","do":"drop"}'))
    assert isinstance(decided(removed(schedule), NOW + HOUR), Go)
    decision = decided(removed(schedule), NOW + HOUR + 1)
    assert isinstance(decision, DropLate)
    assert "PT1H" in decision.reason


def test_a_clock_that_is_behind_is_waited_for_and_a_wrong_expiry_is_not() -> None:
    """Never early: the hold is the use case's."""
    assert isinstance(decided(removed(), NOW - MAX_HOLD), Go)
    assert decided(removed(), NOW - MAX_HOLD - 1) == MoveToDeadLetters(reason=EARLY, schedule=RELAXED)


def test_without_an_executor_it_waits_in_the_store() -> None:
    decision = decided(removed(), types=set())
    assert isinstance(decision, SetAside)
    assert "http-request" in decision.reason


@pytest.mark.parametrize("late", [-HOUR, 0, 40 * DAY])
def test_what_somebody_else_has_removed_is_asked_about(late: Millis) -> None:
    assert decided(removed(expired=False), NOW + late) == AskLedger(RELAXED)


@pytest.mark.parametrize("state", [State.CANCELLED, State.REPLACED])
def test_what_was_cancelled_or_replaced_is_over(state: State) -> None:
    assert decide_other_removal(RELAXED, a_claim(state=state)) == Ignore()


@pytest.mark.parametrize(
    "row", [None, *(a_claim(state=state) for state in State if state not in {State.CANCELLED, State.REPLACED})]
)
def test_what_nobody_has_cancelled_is_not_forgotten(row: Any) -> None:
    """Whether another copy has fired is for the dead letters to find out."""
    assert decide_other_removal(RELAXED, row) == MoveToDeadLetters(reason=BY_OTHERS, schedule=RELAXED)


@pytest.mark.parametrize("kind", [ChangeKind.INSERT, ChangeKind.MODIFY])
def test_what_is_in_the_table_waits_for_the_ttl(kind: ChangeKind) -> None:
    assert decided(removed(kind=kind)) == Ignore()


def test_what_cannot_be_read() -> None:
    assert decided(removed(Malformed("no owner"))) == MoveToDeadLetters(reason="no owner")
    assert isinstance(decided(removed(UnknownVersion("version 2"))), SetAside)
    assert decided(removed(Heartbeat(sent_at=NOW))) == Ignore()


@given(due=st.integers(min_value=0, max_value=2**47))
def test_the_ttl_is_less_than_a_second_late_and_never_early(due: Millis) -> None:
    schedule = evolve(RELAXED, id=an_id(due, kind=IdKind.RELAXED), point_in_time=due)
    assert schedule.is_relaxed
    assert due <= schedule.expires_at < due + SECOND
    assert schedule.expires_at % SECOND == 0


@pytest.mark.parametrize("kind", [kind for kind in IdKind if "RELAXED" not in kind.name] + [9])
def test_every_other_kind_has_the_margin_of_the_safety_net(kind: Any) -> None:
    """A kind that only a later version knows, too."""
    schedule: Schedule = evolve(a_schedule(NOW + MINUTE), id=an_id(NOW + MINUTE, kind=kind))
    assert not schedule.is_relaxed
    assert schedule.expires_at == NOW + MINUTE + TTL_MARGIN
