"""A history without the events that later ones repeat is the history with them."""

from collections.abc import Sequence

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.history.cloud_events import decode, encode
from delayer.history.model import LifecycleEvent, enqueued, fold, of_row
from delayer.history.rules import on_its_way, whole
from delayer.ledger.model import EventType, LedgerRow, State, named
from delayer.ledger.rules import ended
from delayer.schedule.instants import HOUR, MINUTE, SECOND, Millis
from delayer.schedule.schedule_id import IdKind
from tests.samples import NOW, OWNER, a_claim, an_id
from tests.unit.history.test_events import Life, lives

PERIOD = 14 * MINUTE
Line = tuple[EventType, Millis, State, int, str]


def journaled(events: Sequence[LifecycleEvent]) -> list[LifecycleEvent]:
    """Those that reach the journal, as they come out of it."""
    return [decode(encode(event)) for event in events if not event.retold]


def lines(events: Sequence[LifecycleEvent]) -> list[Line]:
    """What is shown of them; of an estimate, that it is there."""
    return [(one.type, 0 if one.is_estimate else one.at, one.state, one.attempt, one.detail) for one in events]


def all_of(life: Life) -> list[Line]:
    """What an older version showed; the time of what is on its way is not known any more."""
    known = whole(life.schedule.id, [decode(encode(event)) for event in life.events])
    on_way = life.state is State.ENQUEUED and not any(one.type is EventType.REDRIVEN for one in known[-1:])
    last = max((at for at, one in enumerate(known) if one.type is EventType.ENQUEUED), default=-1)
    return lines([evolve(one, is_estimate=on_way and at == last) for at, one in enumerate(known)])


@given(lives(), st.data())
def test_a_history_is_the_same_as_if_all_had_been_written(life: Life, data: st.DataObject) -> None:
    """Whatever befell it, at each moment of its life, in whatever order its events came."""
    kept = data.draw(st.permutations(journaled(life.events)))
    shown = whole(life.schedule.id, kept, life.row)
    if life.state is State.ENQUEUED:
        shown = on_its_way(life.schedule.id, shown, PERIOD)
    assert sorted(lines(shown)) == sorted(all_of(life))
    assert fold(shown) is life.state


@given(lives(), st.data())
def test_any_order_and_any_number_of_deliveries(life: Life, data: st.DataObject) -> None:
    """And whether some were written by an older version, which wrote all of them."""
    kept = journaled(life.events)
    older = [decode(encode(event)) for event in life.events if event.retold]
    again = data.draw(st.lists(st.sampled_from([*kept, *older]), max_size=10))
    mixed = data.draw(st.permutations([*kept, *again]))
    expected = whole(life.schedule.id, [*kept, *again], life.row)
    assert whole(life.schedule.id, mixed, life.row) == expected
    assert whole(life.schedule.id, expected, life.row) == expected, "what is put back is not put back twice"


def test_of_the_first_attempt_two_are_written() -> None:
    life = Life()
    life.left = NOW
    life.report(enqueued(life.schedule.id, OWNER, NOW))
    claim = a_claim(schedule_id=life.schedule.id, enqueued_at=NOW, claimed_at=NOW + SECOND, at=NOW + SECOND)
    life.write(claim)
    life.write(ended(claim, State.EXECUTED, NOW + 2 * SECOND, "HTTP 204"))
    kept = journaled(life.events)
    assert [event.type for event in kept] == [EventType.SCHEDULED, EventType.EXECUTED]
    assert lines(whole(life.schedule.id, kept)) == all_of(life)


def test_a_claim_after_a_name_is_the_first_and_one_after_a_redrive_is_not() -> None:
    begun = named(an_id(), OWNER, "a name", NOW)
    claim = a_claim(schedule_id=an_id(), revision=2, name="a name")
    redriven = evolve(begun, detail="redriven")
    retold = [event.retold for row in (None, begun, redriven) if (event := of_row(row, claim, "c"))]
    assert retold == [True, True, False]


def test_times_that_older_code_has_left_out_of_the_row_are_in_the_row_before() -> None:
    claim = a_claim(enqueued_at=NOW)
    event = of_row(claim, evolve(ended(claim, State.EXECUTED, NOW + SECOND), enqueued_at=0), "c")
    assert event
    assert event.enqueued_at == NOW


@pytest.mark.parametrize("row", [None, a_claim(enqueued_at=NOW)], ids=["no row", "a row"])
def test_what_the_journal_does_not_know_has_no_history(row: LedgerRow | None) -> None:
    assert whole(an_id(), [], row) == ()


@pytest.mark.parametrize(
    ("created_at", "kind", "left"),
    [
        (NOW - HOUR, IdKind.PLAIN, NOW - PERIOD),
        (NOW - MINUTE, IdKind.PLAIN, NOW - MINUTE),
        (NOW - HOUR, IdKind.RELAXED, NOW),
    ],
    ids=["swept", "posted within the period", "relaxed"],
)
def test_when_it_left_is_estimated_by_the_period(created_at: Millis, kind: IdKind, left: Millis) -> None:
    due = NOW // MINUTE * MINUTE
    schedule_id = an_id(due, kind=kind)
    begun = evolve(Life().events[0], schedule_id=schedule_id, at=created_at)
    [_, event] = on_its_way(schedule_id, [begun], PERIOD)
    assert (event.type, event.is_estimate, event.at - due) == (EventType.ENQUEUED, True, left - NOW)
