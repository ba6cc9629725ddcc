"""What waits for its time: a partition for each shard, in the order in which it was accepted."""

from typing import Final

from attrs import frozen

from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule_id import undecided_bucket
from delayer.ports.waiting_table import Waits, WaitsPage
from delayer.store.items import StoredItem
from delayer.store.queries import Query, Range
from delayer.store.store import Store

READ: Final = ("due", "when")


@frozen(kw_only=True)
class StoredWaitingTable:
    """Port WaitingTable."""

    store: Store
    table: str

    def page(self, shard: int, since: Millis, until: Millis, after: str = "", at_most: int = 100) -> WaitsPage:
        # The text of `until` is shorter than any record of that instant, and before it.
        accepted = Range("between", f"{since:013d}", f"{until:013d}")
        bucket = {"bucket": undecided_bucket(shard)}
        page = self.store.query(
            Query(self.table, bucket, sort="due", within=accepted, after=after, at_most=at_most, only=READ)
        )
        return WaitsPage(waits=tuple(map(_waits_in, page.items)), more=page.more)


def _waits_in(item: StoredItem) -> Waits:
    when = item.get("when")
    return Waits(schedule_id=item["due"].partition("#")[2], when=when if isinstance(when, str) else "")
