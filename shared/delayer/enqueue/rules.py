"""Whether a record is enqueued now, and which buckets are swept: fast track and sweep have one predicate (ADR 0011)."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from attrs import frozen

from delayer.ledger.model import LedgerRow, State
from delayer.schedule.instants import (
    HOUR,
    MINUTE,
    NEARLY_DUE,
    SECOND,
    STALE_AFTER,
    Malformed,
    Millis,
    Minute,
    UnknownVersion,
    delay_seconds,
    edge_of,
    minute_of,
    start_of,
    within_period,
)
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import Progress, Shards
from delayer.schedule.table_change import ChangeKind, Heartbeat, Heartbeats, RecordChange

REQUEST: Final = 10  # messages in one request to SQS
FAST_TRACK_AT_MOST: Final[Millis] = 10 * SECOND  # a shard waits for a failed delete no longer
ALONE_AT_MOST: Final[Millis] = MINUTE  # nor for a record that fails while others pass
HOLDS_AT_MOST: Final[Millis] = HOUR  # and in an outage no longer
CLOSABLE_AFTER: Final[Millis] = 10 * MINUTE  # longer than any write may take to arrive (ADR 0013)
HEARTBEAT_FRESH: Final[Millis] = 3 * MINUTE
HEARTBEAT_WAIT: Final[Millis] = 10 * SECOND
AWAITED_TICKS: Final = 4  # as many ticks' heartbeats may be on their way
AGAIN_AFTER: Final[Millis] = 30 * SECOND  # a heartbeat that did not come through is sent again by the next tick
BACKLOG_PER_RELAY: Final = 100  # visible messages for each relay that may run: beyond them it is not keeping up
URGENT: Final[Millis] = 3 * MINUTE  # what is due within this is swept whatever the backlog (ADR 0085)
OLD_SHARE: Final = 3  # what is old gets at least one part in so many of the time, and of the room
WHOLE_WINDOW_EVERY: Final[Millis] = 5 * MINUTE
GAP: Final[Millis] = 90 * SECOND  # longer since the last tick than this: one was missed


@frozen
class DeleteRecord:
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
Common = AskLedger | MoveToDeadLetters | SetAside | Ignore  # on each stream whose records are nowhere else
Own = DeleteRecord | Send | NoteHeartbeat
Decision = Own | Common
FAR_REMOVED: Final = "its record was removed long before its point in time, and the ledger does not say why"


def decide(change: RecordChange, now: Millis, period: Millis) -> Decision:
    """Decides what to do about one change."""
    match change.row:
        case Heartbeat() as heartbeat:
            return NoteHeartbeat(heartbeat) if change.kind is ChangeKind.REMOVE else Ignore()
        case Malformed() as malformed:
            return MoveToDeadLetters(reason=malformed.reason) if change.kind is ChangeKind.REMOVE else Ignore()
        case UnknownVersion() as unknown:
            return unhandled(change, unknown)
        case schedule:
            return _decide_schedule(change.kind, schedule, now, period)


def unhandled(change: RecordChange, error: Exception) -> SetAside | Ignore:
    """Decides about a record that our own code fails at. One that was only inserted is in the table: it is swept."""
    return SetAside(f"it could not be handled: {error!r}") if change.kind is ChangeKind.REMOVE else Ignore()


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


def _decide_schedule(kind: ChangeKind, schedule: Schedule, now: Millis, period: Millis) -> Decision:
    if kind is ChangeKind.INSERT and within_period(schedule.address.bucket.minute, now, period):
        return DeleteRecord(schedule)
    if kind is not ChangeKind.REMOVE:
        return Ignore()
    if now - schedule.address.due > STALE_AFTER:
        return MoveToDeadLetters(reason="more than 29 days past its point in time", schedule=schedule)
    if schedule.address.due - now > NEARLY_DUE:
        return AskLedger(schedule)
    return Send(schedule=schedule, delay_seconds=delay_seconds(schedule.point_in_time, now))


def decide_far_removal(
    schedule: Schedule, row: LedgerRow | None, reason: str = FAR_REMOVED
) -> MoveToDeadLetters | Ignore:
    """A cancel or a replacement writes the ledger before it removes the record. Any other removal is neither fired nor
    forgotten, for this reason.
    """
    if row is not None and row.state in (State.CANCELLED, State.REPLACED):
        return Ignore()
    return MoveToDeadLetters(reason=reason, schedule=schedule)


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


class SweepGate(StrEnum):
    """It says how much may be swept now."""

    OPEN = "open"
    URGENT = "what is urgent"  # the relay has a backlog
    CLOSED = "nothing"  # the stream is not read: what leaves the table now may be lost


def decide_gate(seen: Millis | None, backlog: int, mark: int, now: Millis) -> SweepGate:
    """`seen` is the newest heartbeat that came through the stream, `backlog` the number of visible messages."""
    if not heartbeat_is_fresh(seen, now):
        return SweepGate.CLOSED
    return SweepGate.URGENT if backlog > mark else SweepGate.OPEN


def may_sweep(gate: SweepGate, minute: Minute, now: Millis) -> bool:
    """Whether a minute may be swept."""
    return gate is SweepGate.OPEN or (gate is SweepGate.URGENT and is_urgent(minute, now))


def is_urgent(minute: Minute, now: Millis) -> bool:
    """Nearly due, or overdue only since minutes that cannot be closed yet."""
    return first_open(now) <= minute <= minute_of(now + URGENT)


def room_for_the_old(backlog: int, mark: int) -> int:
    """How many overdue records a tick may delete: each of them is visible in the delayer queue at once."""
    return max(mark - backlog, mark // OLD_SHARE)


@frozen(kw_only=True)
class SweepPlan:
    """A tick sweeps these minutes: the edge first, so that what is on time stays on time during a catch-up."""

    minutes: tuple[Minute, ...]  # swept in this order; bounded, whatever the outage was
    whole: bool  # whether the old minutes after the watermark are all swept, too, or only closed


def plan(progress: Progress, now: Millis, period: Millis, gate: SweepGate = SweepGate.OPEN) -> SweepPlan:
    """The edge of the delayer period and the two minutes before it; every five minutes, and after a gap, all that
    cannot be closed yet, too (ADR 0012). Older minutes are swept as the watermark passes over them.

    While the relay has a backlog, only what is urgent.
    """
    edge = edge_of(now, period)
    if gate is SweepGate.URGENT:
        last = min(edge, minute_of(now + URGENT))
        return SweepPlan(minutes=tuple(range(max(progress.closed_until, first_open(now)), last + 1))[::-1], whole=False)
    near = tuple(minute for minute in (edge, edge - 1, edge - 2) if minute >= progress.closed_until)
    if now - progress.whole_at < WHOLE_WINDOW_EVERY and now - progress.swept_at <= GAP:
        return SweepPlan(minutes=near, whole=False)
    return SweepPlan(minutes=near + tuple(range(max(progress.closed_until, first_open(now)), edge - 2)), whole=True)


def first_open(now: Millis) -> Minute:
    """The first minute that cannot be closed yet."""
    return minute_of(now - CLOSABLE_AFTER)


def first_progress(shards: Shards) -> Progress:
    """Where the sweep of a new stack begins."""
    return Progress(closed_until=shards.since)


def may_close(minute: Minute, query_began: Millis) -> bool:
    """Whether a query that finds the minute empty proves that it stays so (ADR 0013)."""
    return query_began >= start_of(minute + 1) + CLOSABLE_AFTER


def beats_to_send(known: Heartbeats, count: int, now: Millis) -> tuple[list[Heartbeat], list[Heartbeat]]:
    """The new ones of a tick, and those to be sent once more, as it is not known whether they were ever written.

    Each new one has a key of its own, and so takes a shard and a lane by chance. While several ticks' worth are awaited
    there is no new one: the stream is not read, and need not be filled with them (ADR 0123).
    """
    if not known.reads_lanes:
        return [], []
    new = (
        []
        if len(known.awaited) >= AWAITED_TICKS * count
        else [Heartbeat(sent_at=now, lane=str(lane)) for lane in range(count)]
    )
    return new, [one for one in known.awaited if now - one.sent_at >= AGAIN_AFTER]


def heartbeat_is_fresh(seen: Millis | None, now: Millis) -> bool:
    """Whether the stream consumer has kept up with the minute task."""
    return seen is not None and now - seen <= HEARTBEAT_FRESH


def all_empty(emptiness: Sequence[bool]) -> bool:
    """A minute is closed only if every shard ever used was found empty."""
    return len(emptiness) > 0 and all(emptiness)
