"""The schedules that wait for a time: a partition for each shard, in the order in which they were accepted."""

from typing import Final

from attrs import frozen

from delayer.engines.store.model import KeyRange, Query, StoredItem
from delayer.engines.store.store import Store
from delayer.schedule.instants import Millis
from delayer.schedule.schedule_id import undecided_bucket
from delayer.timing.ports import WaitingSchedule, WaitsPage

READ: Final = ("due", "when")


@frozen(kw_only=True)
class StoredWaitingTable:
    """Finds what waits, shard by shard."""

    store: Store
    table: str

    def page(self, shard: int, since: Millis, until: Millis, after: str = "", at_most: int = 100) -> WaitsPage:
        # The text of `until` is shorter than any record of that instant, and before it.
        accepted = KeyRange("between", f"{since:013d}", f"{until:013d}")
        bucket = {"bucket": undecided_bucket(shard)}
        page = self.store.query(
            Query(self.table, bucket, sort="due", within=accepted, after=after, at_most=at_most, only=READ)
        )
        return WaitsPage(waits=tuple(map(_waits_in, page.items)), more=page.more)


def _waits_in(item: StoredItem) -> WaitingSchedule:
    when = item.get("when")
    return WaitingSchedule(schedule_id=item["due"].partition("#")[2], when=when if isinstance(when, str) else "")
