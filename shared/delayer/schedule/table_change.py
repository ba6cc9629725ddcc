"""A change of a table of records, as its stream reports it; and the heartbeats that come through it (ADR 0014)."""

from collections.abc import Callable
from enum import StrEnum

from attrs import field, frozen

from delayer.schedule.instants import NEARLY_DUE, STALE_AFTER, Malformed, Millis, UnknownVersion
from delayer.schedule.schedule import Schedule


class ChangeKind(StrEnum):
    """DynamoDB's own words for the three events of a stream."""

    INSERT = "INSERT"
    MODIFY = "MODIFY"
    REMOVE = "REMOVE"


@frozen(kw_only=True)
class Heartbeat:
    """A row that each tick of the minute task puts and deletes (ADR 0014)."""

    sent_at: Millis
    # Tells those of one tick apart; "" for the one that every version of the code knows (ADR 0123).
    lane: str = ""


@frozen(kw_only=True)
class Heartbeats:
    """It says of the heartbeats that were sent which came through the stream."""

    seen: Millis | None = None  # when the newest that came through the stream was sent
    awaited: tuple[Heartbeat, ...] = ()  # those with a lane that did not come through yet, the oldest first
    reads_lanes: bool = False  # whether the code that reads the stream knows those with a lane

    @property
    def proven(self) -> Millis | None:
        """Up to when every lane that one of them took is known to be read: the oldest decides."""
        if self.seen is None or not self.awaited:
            return self.seen
        return min(self.seen, self.awaited[0].sent_at)


Row = Schedule | Heartbeat | Malformed | UnknownVersion


def known(row: Row) -> Callable[[], Row]:
    """In place of the reading, for a row that is known."""
    return lambda: row


@frozen(kw_only=True)
class RecordChange:
    """One record of the stream."""

    kind: ChangeKind
    sequence: str  # DynamoDB's sequence number; a partial failure is reported by it
    read: Callable[[], Row] = field(eq=False)  # the row in it: to read it may be what a function dies of
    record: object  # the whole record as it came: the only copy, once its row is deleted
    at: Millis = 0  # when the change was made, to the second
    event: str = ""  # the id that DynamoDB gives it: the same however often it is delivered
    expired: bool = False  # whether DynamoDB's TTL made it: nobody has asked for it

    @property
    def row(self) -> Row:
        """The record as it was before a removal, or as it is."""
        return self.read()


def left_at(kind: ChangeKind, schedule: Schedule, at: Millis, *, expired: bool) -> Millis:
    """When this change, made `at`, has put a schedule on its way; 0 if it has not.

    A removal long before the point in time moves nothing into the delayer queue (ADR 0003), and only what DynamoDB's
    TTL has removed from the relaxed table, `expired`, is on its way (ADR 0097). `at` may be rounded down to the second,
    and is then before the record was there.
    """
    if kind is not ChangeKind.REMOVE or not -NEARLY_DUE <= at - schedule.address.due <= STALE_AFTER:
        return 0
    if schedule.is_relaxed and not expired:
        return 0
    return max(at, schedule.created_at)
