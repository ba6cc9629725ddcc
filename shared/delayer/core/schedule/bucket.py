"""Where a schedule is stored in its table: a partition per minute and shard, ordered by due time (ADR 0008).

With the two control rows that say which shards are in use, and which minutes are closed.
"""

from typing import Final

from attrs import field, frozen
from attrs.validators import ge, le

from delayer.core.schedule.instants import Millis, Minute, format_minute, minute_of

MAX_SHARD: Final = 0xFFF  # it has twelve bits in an id
LAST_INSTANT: Final[Millis] = 253_402_300_799_999  # the year 9999 ends; it fits the six bytes it has in the id


@frozen(kw_only=True, order=True)
class Bucket:
    """One partition of the schedules table."""

    minute: Minute  # minutes since the epoch
    shard: int = field(validator=[ge(0), le(MAX_SHARD)])  # 0 … highest shard ever used

    @property
    def key(self) -> str:
        """The partition key: `2026-11-21T09:00#3`."""
        return f"{format_minute(self.minute)}#{self.shard}"


@frozen(kw_only=True, order=True)
class Address:
    """Instant and shard of a schedule. The instant is its point in time, or that of its acceptance if it is later."""

    due: Millis = field(validator=[ge(0), le(LAST_INSTANT)])
    shard: int = field(validator=[ge(0), le(MAX_SHARD)])

    @property
    def bucket(self) -> Bucket:
        """The partition in which it is stored."""
        return Bucket(minute=minute_of(self.due), shard=self.shard)

    def sort_key(self, schedule_id: str) -> str:
        """`<13-digit ms>#<id>`: in a bucket, schedules are in due order."""
        return f"{self.due:013d}#{schedule_id}"


@frozen(kw_only=True)
class Shards:
    """The control row that writers raise before they use a shard for the first time (ADR 0010)."""

    highest: int  # the highest shard ever used; it only grows
    since: Minute  # the minute of the first write ever: nothing is older


@frozen(kw_only=True)
class Progress:
    """The control row of the sweep."""

    closed_until: Minute  # the watermark: every minute before this one is closed, for good
    swept_at: Millis = 0  # the last tick that swept
    whole_at: Millis = 0  # the last that swept the whole window to its end


@frozen(kw_only=True)
class RecordKey:
    """Names one record of the schedules table."""

    bucket: str
    due: str


def address_for(point_in_time: Millis, now: Millis, shard: int) -> Address:
    """Never in a minute that is over: a bucket once closed by the watermark stays empty (ADR 0013)."""
    return Address(due=max(point_in_time, now), shard=shard)
