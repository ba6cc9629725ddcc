"""Where a schedule stands in its table: a partition per minute and shard, ordered by due time (ADR 0008)."""

from typing import Final

from attrs import field, frozen
from attrs.validators import ge, le

from delayer.core.instants import Millis, Minute, format_minute, minute_of

MAX_SHARD: Final = 0xFFFF
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
    """The instant and shard a schedule is filed under. Its point in time, or the instant it was accepted if later."""

    due: Millis = field(validator=[ge(0), le(LAST_INSTANT)])
    shard: int = field(validator=[ge(0), le(MAX_SHARD)])

    @property
    def bucket(self) -> Bucket:
        """The partition it is filed in."""
        return Bucket(minute=minute_of(self.due), shard=self.shard)

    def sort_key(self, schedule_id: str) -> str:
        """`<13-digit ms>#<id>`: in a bucket, schedules stand in due order."""
        return f"{self.due:013d}#{schedule_id}"


def address_for(point_in_time: Millis, now: Millis, shard: int) -> Address:
    """Never in a minute that is over: a bucket once closed by the watermark stays empty (ADR 0013)."""
    return Address(due=max(point_in_time, now), shard=shard)
