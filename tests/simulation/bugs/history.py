"""Bugs of the lifecycle events."""

from collections.abc import Sequence
from typing import Any

from attrs import evolve

from delayer.history import model as events
from delayer.history.model import LifecycleEvent
from delayer.ledger import rules as claim
from delayer.ledger.model import EventType, LedgerChange, LedgerRow, State
from delayer.schedule.messages import DelayerMessage
from tests.simulation.bugs.bug import Bug
from tests.simulation.oracle.invariant import Invariant

_of_row = events.of_row


def _any_revision(known: Sequence[LifecycleEvent]) -> LifecycleEvent | None:
    return known[len(known) // 2 - 1] if known else None


def _no_event_of_a_second_end(old: Any, new: Any, change: str) -> LifecycleEvent | None:
    is_second = old is not None and old.ended and new.state is not State.SCHEDULED
    return None if is_second else _of_row(old, new, change)


def _an_event_without_times(old: Any, new: Any, change: str) -> LifecycleEvent | None:
    event = _of_row(old, new, change)
    return evolve(event, enqueued_at=0, claimed_at=0) if event else None


def _no_attempt_of_its_own(old: Any, new: Any, change: str) -> LifecycleEvent | None:
    event = _of_row(old, new, change)
    return evolve(event, retold=True) if event and event.type is EventType.ATTEMPT_FAILED else event


def _no_note(message: DelayerMessage, current: LedgerRow) -> LedgerChange | None:
    return None


BUGS = (
    Bug(
        name="end-without-its-times",
        what="the events of the ledger do not repeat when a schedule was enqueued and claimed",
        breaks=Invariant.HISTORY,
        swaps=((events, "of_row", _an_event_without_times),),
    ),
    Bug(
        name="attempt-not-journaled",
        what="an attempt that failed is left out of the journal, as if a later event repeated it",
        breaks=Invariant.HISTORY,
        swaps=((events, "of_row", _no_attempt_of_its_own),),
    ),
    Bug(
        name="withdrawn-without-a-note",
        what="a relay does not note when a schedule was enqueued that was cancelled on its way",
        breaks=Invariant.HISTORY,
        swaps=((claim, "noted", _no_note),),
    ),
    Bug(
        name="revision-ignored",
        what="the fold takes the state from any event of the ledger, and does not compare the revisions",
        breaks=Invariant.FOLD,
        swaps=((events, "of_last_row", _any_revision),),
    ),
    Bug(
        name="second-end-unpublished",
        what="an end that replaces another end (such as `replaced` after `failed`) makes no event",
        breaks=Invariant.FOLD,
        swaps=((events, "of_row", _no_event_of_a_second_end),),
    ),
)
