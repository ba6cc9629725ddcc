"""The decision of a time: what a timing function may write, given the row of the accepted id (ADR 0096).

The row decides between it and a cancel, a replacement, or another delivery of the same message: one of them is first.
"""

from collections.abc import Iterator
from typing import Final, Generic, TypeVar

from attrs import evolve, frozen

from delayer.accept.rules.window import spread_over
from delayer.ledger.model import EventType, LedgerChange, LedgerRow, State, following, new_row
from delayer.schedule.instants import ROW_LIFETIME, SECOND, YEAR, Millis, Minute
from delayer.schedule.schedule_id import address_of

MAX_AHEAD: Final[Millis] = 10 * YEAR
TOO_FAR: Final = "its policy chose a time that is further than ten years ahead"
FIRST: Final = (3, 10, 30)  # minutes after it was accepted
HOUR: Final = 60  # minutes
DAY: Final = 24 * HOUR


@frozen
class At:
    """It is due at this instant. If that is over, it fires at once."""

    instant: Millis


@frozen
class TimeRefused:
    """There will never be a time for it: it ends as failed. `detail` says why, in words of your own."""

    detail: str


Chosen = At | TimeRefused


@frozen
class Gone:
    """It does not wait any more, as `row` shows: its record is left over from a late put, and nothing is done."""

    row: LedgerRow


def within_reach(chosen: Chosen, now: Millis) -> Chosen:
    """A refusal in the place of what no id can hold."""
    return TimeRefused(TOO_FAR) if isinstance(chosen, At) and chosen.instant > now + MAX_AHEAD else chosen


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
    """Ends a schedule as failed, for good: nothing of it is stored that could be redriven."""
    if current and current.state is not State.UNDECIDED:
        return Gone(current)
    if current:
        return LedgerChange(row=following(current, EventType.FAILED, now, detail=detail), over=current)
    return LedgerChange(row=new_row(EventType.FAILED, schedule_id, owner, now, detail=detail))


def minutes_to_search(now: Minute, oldest: Minute) -> Iterator[Minute]:
    """The minutes in which what is looked for now was accepted, given the minute of the oldest that waits."""
    ages = (*FIRST, *range(HOUR, DAY, HOUR), *range(DAY, now - oldest + 1, DAY))
    yield from (now - age for age in ages if now - age >= oldest)


Fields = TypeVar("Fields")


@frozen(kw_only=True)
class Asked(Generic[Fields]):
    """One schedule that waits for its time."""

    policy: Fields  # what the client asked for
    now: Millis  # in milliseconds since 1970, UTC
    accepted_at: Millis  # when the API accepted it; long ago, if the function was broken since
    schedule_id: str  # the same each time that the question is asked
    owner: str  # whose schedule it is
    payload: str  # JSON, byte for byte as the client sent it; empty if there is none
    key: bytes  # random, and the same each time that the question is asked

    def drawn(self, seconds: float) -> Millis:
        """From 0 up to, but not including, this long: even over all schedules, and always the same for this one."""
        return spread_over(self.key, round(seconds * SECOND))
