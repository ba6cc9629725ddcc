"""What a change of the schedules table means for the delayer queue.

INSERT within the delayer period: delete the record, that is the fast track. REMOVE: send it, whoever
deleted it (ADR 0003). Nothing compares a point in time with now in order to leave it out (ADR 0006).
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from attrs import frozen

from delayer.core.instants import MINUTE, SECOND, Millis, Minute, minute_of
from delayer.core.ledger import STALE_AFTER, LedgerRow
from delayer.core.lifecycle import State
from delayer.core.schedule import Schedule

MAX_DELAY_SECONDS: Final = 900  # SQS holds a message no longer
REQUEST: Final = 10  # messages in one request to SQS
NEARLY_DUE: Final[Millis] = 30 * MINUTE  # no function deletes a record further ahead (ADR 0022)


class Kind(StrEnum):
    """DynamoDB's own words for the three events of a stream."""

    INSERT = "INSERT"
    MODIFY = "MODIFY"
    REMOVE = "REMOVE"


@frozen
class Heartbeat:
    """The row each tick of the minute task puts and deletes (ADR 0014)."""

    sent_at: Millis


@frozen
class Garbled:
    """A row that this code cannot read."""

    reason: str


@frozen(kw_only=True)
class Change:
    """One record of the stream."""

    kind: Kind
    sequence: str  # DynamoDB's sequence number, what a partial failure is reported by
    row: Schedule | Heartbeat | Garbled
    raw: str  # the whole record as JSON: the only copy, once its row is deleted


@frozen
class Delete:
    """It is due within the delayer period: delete the record, and the REMOVE will send it."""

    schedule: Schedule


@frozen
class Send:
    """Its record is gone: into the delayer queue with it."""

    schedule: Schedule
    delay_seconds: int


@frozen
class AskLedger:
    """Removed though not nearly due: by a cancel, or by hand. The ledger knows."""

    schedule: Schedule


@frozen
class SetAside:
    """Keep the whole record, and raise an alarm."""

    reason: str
    schedule: Schedule | None = None


@frozen
class NoteHeartbeat:
    """The stream is read up to here."""

    sent_at: Millis


@frozen
class Ignore:
    """Nothing to do."""


Decision = Delete | Send | AskLedger | SetAside | NoteHeartbeat | Ignore


def edge_of(now: Millis, period: Millis) -> Minute:
    """The last minute that belongs to the delayer queue."""
    return minute_of(now + period)


def within_period(minute: Minute, now: Millis, period: Millis) -> bool:
    """The one predicate of fast track and sweep: with two, a record could fall between them (ADR 0011)."""
    return minute <= edge_of(now, period)


def delay_seconds(due: Millis, now: Millis) -> int:
    """Whole seconds until due, rounded *down* and within SQS's bounds: the relay holds the rest (ADR 0016)."""
    return min(max((due - now) // SECOND, 0), MAX_DELAY_SECONDS)


def decide(change: Change, now: Millis, period: Millis) -> Decision:
    """What to do about one change."""
    match change.row:
        case Heartbeat(sent_at):
            return NoteHeartbeat(sent_at) if change.kind is Kind.REMOVE else Ignore()
        case Garbled(reason):
            return SetAside(reason) if change.kind is Kind.REMOVE else Ignore()
        case schedule:
            return _decide_schedule(change.kind, schedule, now, period)


def _decide_schedule(kind: Kind, schedule: Schedule, now: Millis, period: Millis) -> Decision:
    if kind is Kind.INSERT and within_period(schedule.address.bucket.minute, now, period):
        return Delete(schedule)
    if kind is not Kind.REMOVE:
        return Ignore()
    if now - schedule.address.due > STALE_AFTER:
        return SetAside("more than 29 days past its point in time", schedule)
    if schedule.address.due - now > NEARLY_DUE:
        return AskLedger(schedule)
    return Send(schedule, delay_seconds(schedule.point_in_time, now))


def decide_far_removal(schedule: Schedule, row: LedgerRow | None) -> SetAside | Ignore:
    """Cancelled or replaced is what should have removed it; else it is neither fired early nor forgotten."""
    if row is not None and row.state in (State.CANCELLED, State.REPLACED):
        return Ignore()
    return SetAside("its record was removed long before its point in time, and the ledger does not say why", schedule)


def side_by_side(removed: Sequence[tuple[Change, Send]]) -> list[tuple[Change, Send]]:
    """In due order, those of one request with one delay where a second more or less is all between them.

    What is due together then leaves the queue together, and is received, claimed and handed over in
    full batches (ADR 0035). A message is so up to two seconds early, which is less than a relay holds.
    """
    ordered = sorted(removed, key=lambda pair: pair[1].schedule.point_in_time)
    aligned = []
    for at, (change, send) in enumerate(ordered):
        first = ordered[at - at % REQUEST][1].delay_seconds
        delay = first if send.delay_seconds <= first + 1 else send.delay_seconds
        aligned.append((change, Send(send.schedule, delay)))
    return aligned
