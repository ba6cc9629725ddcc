"""What a change of the schedules table means for the delayer queue.

INSERT within the delayer period: delete the record; that is the fast track. REMOVE: send it, whoever performs the
delete (ADR 0003). Nothing is left out because its point in time has passed (ADR 0006).
"""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.core.ledger.lifecycle import State
from delayer.core.ledger.row import LedgerRow
from delayer.core.schedule.instants import HOUR, MINUTE, SECOND, Millis
from delayer.core.schedule.malformed import Malformed, UnknownVersion
from delayer.core.schedule.margins import NEARLY_DUE, STALE_AFTER, delay_seconds, within_period
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.table_change import Heartbeat, Kind, RecordChange

REQUEST: Final = 10  # messages in one request to SQS
FAST_TRACK_AT_MOST: Final[Millis] = 10 * SECOND  # a failed delete holds up its shard no longer
ALONE_AT_MOST: Final[Millis] = MINUTE  # a record that fails while others pass holds it up no longer
HOLDS_AT_MOST: Final[Millis] = HOUR  # and in an outage no longer


@frozen
class Delete:
    """It is due within the delayer period: delete the record, and its REMOVE event will send it."""

    schedule: Schedule


@frozen(kw_only=True)
class Send:
    """Its record is deleted: send it to the delayer queue."""

    schedule: Schedule
    delay_seconds: int


@frozen
class AskLedger:
    """Its record was deleted long before it is due, by a cancel or by hand: the ledger shows which."""

    schedule: Schedule


@frozen(kw_only=True)
class MoveToDeadLetters:
    """Store the whole record as a dead letter, which raises an alarm."""

    reason: str
    schedule: Schedule | None = None


@frozen
class SetAside:
    """This code cannot handle it: store it whole, and the minute task brings it back (ADR 0082)."""

    reason: str


@frozen
class NoteHeartbeat:
    """The stream is read up to here, in the lane that it took."""

    heartbeat: Heartbeat


@frozen
class Ignore:
    """Nothing to do."""


NEEDS_NOTHING: Final = frozenset({SetAside, NoteHeartbeat, Ignore})  # that they are done says nothing of AWS
Decision = Delete | Send | AskLedger | MoveToDeadLetters | SetAside | NoteHeartbeat | Ignore


def decide(change: RecordChange, now: Millis, period: Millis) -> Decision:
    """What to do about one change."""
    match change.row:
        case Heartbeat() as heartbeat:
            return NoteHeartbeat(heartbeat) if change.kind is Kind.REMOVE else Ignore()
        case Malformed() as malformed:
            return MoveToDeadLetters(reason=malformed.reason) if change.kind is Kind.REMOVE else Ignore()
        case UnknownVersion() as unknown:
            return unhandled(change, unknown)
        case schedule:
            return _decide_schedule(change.kind, schedule, now, period)


def unhandled(change: RecordChange, error: Exception) -> SetAside | Ignore:
    """What becomes of a record that our own code fails at. One that was only inserted is in the table: it is swept."""
    return SetAside(f"it could not be handled: {error!r}") if change.kind is Kind.REMOVE else Ignore()


def age(change: RecordChange, now: Millis) -> Millis:
    """How long ago it was made; 0 if that is not known."""
    return now - change.at if change.at else 0


def leaves_to_the_sweep(change: RecordChange, now: Millis) -> bool:
    """Whether a fast track that failed is given up: the record is in the table, where the next sweep finds it."""
    return age(change, now) > FAST_TRACK_AT_MOST


def gives_way(change: RecordChange, now: Millis, *, others_pass: bool) -> bool:
    """Whether a record that AWS does not let us handle is set aside, so that its shard goes on.

    In an outage it stays, as nothing else could go on either: the stream keeps it for a day.
    """
    return age(change, now) > (ALONE_AT_MOST if others_pass else HOLDS_AT_MOST)


def _decide_schedule(kind: Kind, schedule: Schedule, now: Millis, period: Millis) -> Decision:
    if kind is Kind.INSERT and within_period(schedule.address.bucket.minute, now, period):
        return Delete(schedule)
    if kind is not Kind.REMOVE:
        return Ignore()
    if now - schedule.address.due > STALE_AFTER:
        return MoveToDeadLetters(reason="more than 29 days past its point in time", schedule=schedule)
    if schedule.address.due - now > NEARLY_DUE:
        return AskLedger(schedule)
    return Send(schedule=schedule, delay_seconds=delay_seconds(schedule.point_in_time, now))


def decide_far_removal(schedule: Schedule, row: LedgerRow | None) -> MoveToDeadLetters | Ignore:
    """A cancel or a replacement removes a record this early. Any other removal is neither fired nor forgotten."""
    if row is not None and row.state in (State.CANCELLED, State.REPLACED):
        return Ignore()
    return MoveToDeadLetters(
        reason="its record was removed long before its point in time, and the ledger does not say why",
        schedule=schedule,
    )


def side_by_side(removed: Sequence[tuple[RecordChange, Send]]) -> list[tuple[RecordChange, Send]]:
    """In due order; the messages of one request get the same delay if it is at most one second shorter than their own.

    What is due together then leaves the queue together, and is received, claimed and handed over in
    full batches (ADR 0035). So a message is up to two seconds early, which is less than a relay holds.
    """
    ordered = sorted(removed, key=lambda pair: pair[1].schedule.point_in_time)
    aligned = []
    for at, (change, send) in enumerate(ordered):
        first = ordered[at - at % REQUEST][1].delay_seconds
        delay = first if send.delay_seconds <= first + 1 else send.delay_seconds
        aligned.append((change, Send(schedule=send.schedule, delay_seconds=delay)))
    return aligned
