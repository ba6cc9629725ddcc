"""Changes of the ledger: decide, write, and decide again on the row that was in the way, until it is settled."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from delayer.engines.ports import Unavailable
from delayer.ledger.model import LedgerChange, LedgerRow
from delayer.ledger.ports import Conflict, Ledger, WriteResult, Written

Outcome = TypeVar("Outcome")  # a LedgerChange that was written, or whatever else was decided


def settle(ledger: Ledger, decide: Callable[[LedgerRow | None], Outcome], current: LedgerRow | None = None) -> Outcome:
    """The change that was written, or whatever else was decided. `current` is the row as far as it is known.

    Raises Unavailable if AWS failed, and what `decide` raises.
    """
    [outcome] = settle_all(ledger, [decide], [current])
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def settle_all(
    ledger: Ledger,
    decisions: Sequence[Callable[[LedgerRow | None], Outcome]],
    currents: Sequence[LedgerRow | None] = (),
) -> list[Outcome | Exception]:
    """Many at a time, each by itself: an exception in the place of an outcome concerns that one only."""
    outcomes: dict[int, Outcome | Exception] = {}
    undecided = dict(enumerate(currents or [None] * len(decisions)))
    while undecided:
        changes, waiting = _round(undecided, decisions, outcomes)
        for (number, change), result in zip(changes.items(), _write(ledger, list(changes.values())), strict=True):
            match result:
                case Written():
                    outcomes[number] = change  # type: ignore[assignment] # it is what was decided
                case Conflict(current):
                    waiting[number] = current
                case Unavailable():
                    outcomes[number] = result
        undecided = waiting
    return [outcomes[number] for number in range(len(decisions))]


def _round(
    undecided: Mapping[int, LedgerRow | None],
    decisions: Sequence[Callable[[LedgerRow | None], Outcome]],
    outcomes: dict[int, Outcome | Exception],
) -> tuple[dict[int, LedgerChange], dict[int, LedgerRow | None]]:
    """The changes of this round, and what waits for the next: of two copies of a schedule, the second."""
    changes: dict[int, LedgerChange] = {}
    changed: set[str] = set()
    waiting: dict[int, LedgerRow | None] = {}
    for number, current in undecided.items():
        try:
            decided = decisions[number](current)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one message, its neighbours are handled
            outcomes[number] = error
            continue
        if not isinstance(decided, LedgerChange):
            outcomes[number] = decided
        elif decided.row.schedule_id in changed:
            waiting[number] = current
        else:
            changes[number] = decided
            changed.add(decided.row.schedule_id)
    return changes, waiting


def _write(ledger: Ledger, changes: list[LedgerChange]) -> Sequence[WriteResult]:
    try:
        return ledger.write(changes) if changes else []
    except Unavailable as error:
        return [error] * len(changes)
