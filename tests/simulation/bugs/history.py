"""Bugs of the lifecycle events."""

from collections.abc import Sequence
from typing import Any

from delayer.core.history import events
from delayer.core.history.events import Event
from delayer.core.ledger.lifecycle import State
from tests.simulation.bugs.bug import Bug
from tests.simulation.oracle.invariant import Invariant

_of_row = events.of_row


def _any_revision(known: Sequence[Event]) -> Event | None:
    return known[len(known) // 2 - 1] if known else None


def _no_event_of_a_second_end(old: Any, new: Any, change: str) -> Event | None:
    is_second = old is not None and old.ended and new.state is not State.SCHEDULED
    return None if is_second else _of_row(old, new, change)


BUGS = (
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
