"""The decision of a time: what a timing function may write, given the row of the accepted id (ADR 0096).

The row decides between it and a cancel, a replacement, or another delivery of the same message: one of them is first.
"""

from typing import Final

from attrs import evolve, frozen

from delayer.core.ledger.lifecycle import EventType, State
from delayer.core.ledger.row import LedgerChange, LedgerRow, following, new_row
from delayer.core.schedule.instants import YEAR, Millis
from delayer.core.schedule.margins import ROW_LIFETIME
from delayer.core.schedule.schedule_id import address_of

MAX_AHEAD: Final[Millis] = 10 * YEAR
TOO_FAR: Final = "its policy chose a time that is further than ten years ahead"


@frozen
class At:
    """It is due at this instant. If that is over, it fires at once."""

    instant: Millis


@frozen
class Refused:
    """There will never be a time for it: it ends as failed. `detail` says why, in words of your own."""

    detail: str


Chosen = At | Refused


@frozen
class Gone:
    """It does not wait any more, as `row` shows: its record is left over from a late put, and nothing is done."""

    row: LedgerRow


def within_reach(chosen: Chosen, now: Millis) -> Chosen:
    """A refusal in the place of what no id can hold."""
    return Refused(TOO_FAR) if isinstance(chosen, At) and chosen.instant > now + MAX_AHEAD else chosen


def still_waits(row: LedgerRow | None) -> bool:
    """Whether one whose record is gone has not ended: whoever ends it writes its row first, or at once with it."""
    return row is None or row.state is State.UNDECIDED


def decide_time(
    schedule_id: str, owner: str, current: LedgerRow | None, now: Millis, decided_as: str, detail: str
) -> LedgerChange | Gone:
    """Its row becomes `decided`, and points to the schedule that is put with its time, in the same transaction.

    The row is kept as long as that one's: who knows the accepted id alone finds its outcome.
    """
    if current and current.state is not State.UNDECIDED:
        return Gone(current)
    if current:
        row = following(current, EventType.DECIDED, now, detail=detail, decided_as=decided_as)
    else:
        row = new_row(EventType.DECIDED, schedule_id, owner, now, detail=detail, decided_as=decided_as)
    later = max(address_of(decided_as).due, now) + ROW_LIFETIME
    return LedgerChange(row=evolve(row, expires_at=max(row.expires_at, later)), over=current)


def decide_refusal(
    schedule_id: str, owner: str, current: LedgerRow | None, now: Millis, detail: str
) -> LedgerChange | Gone:
    """It ends as failed, for good: nothing of it is stored that could be redriven."""
    if current and current.state is not State.UNDECIDED:
        return Gone(current)
    if current:
        return LedgerChange(row=following(current, EventType.FAILED, now, detail=detail), over=current)
    return LedgerChange(row=new_row(EventType.FAILED, schedule_id, owner, now, detail=detail))
