"""Looks at the occurrences that are still filed in minutes that are over: no event has stepped their series (ADR 0100).

It needs no lock: a step is a compare-and-set, and what is filed again twice is looked at twice.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from attrs import evolve, frozen

from delayer.core.ledger.row import LedgerRow
from delayer.core.schedule.bucket import Bucket, Shards
from delayer.core.schedule.instants import Millis, Minute, minute_of
from delayer.core.schedule.schedule_id import address_of
from delayer.core.series.stepping import Happened, of_row
from delayer.core.series.upkeep.net import Fate, Place, decide_look, may_close, near_minute, next_look
from delayer.ports.clock import Clock, Parallel
from delayer.ports.control import ReadsShards
from delayer.ports.ledger import ReadsManyRows
from delayer.ports.observer import Observer
from delayer.ports.series import Filed, FiledPage, FilesSeries, ReadsSeries
from delayer.ports.series_upkeep import FilesAgain, TracksNet
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.series.upkeep.alone import is_done

BUDGET: Final[Millis] = 30_000  # begins no further page after this long; what is left waits for the next tick


class SeriesOfNet(ReadsSeries, FilesSeries, Protocol):
    """What it needs of the series."""


@frozen(kw_only=True)
class Net:
    """One tick of it."""

    clock: Clock
    control: ReadsShards
    series: SeriesOfNet
    files: FilesAgain
    ledger: ReadsManyRows
    progress: TracksNet
    step: Callable[[Happened], None]  # StepSeries
    parallel: Parallel
    observer: Observer

    def __call__(self, began: Millis) -> None:
        """First the minute that was over just now, so that a lost event costs minutes also during a catch-up.

        Then all that can be closed, as far as it comes. Raises Unavailable: the next tick goes on where this one ended.
        """
        shards = self.control.shards()
        if shards is None:
            return  # nothing was ever scheduled
        place = self.progress.place() or Place(minute=shards.since)
        near = near_minute(began)
        if near >= place.minute:
            self._look_at(Place(minute=near), shards, began, is_last=False)
        place = self._close(place, shards, began)
        self.progress.reach(place)
        self.observer.note("looked after series", minutesBehind=minute_of(began) - place.minute)

    def _close(self, place: Place, shards: Shards, began: Millis) -> Place:
        """How far it came."""
        while may_close(place.minute, self.clock.now()):
            try:
                stopped = self._look_at(place, shards, began, is_last=True)
            except Unavailable:
                self.progress.reach(place)  # what is before it is done
                raise
            if stopped:
                return stopped
            place = Place(minute=place.minute + 1)
        return place

    def _look_at(self, place: Place, shards: Shards, began: Millis, *, is_last: bool) -> Place | None:
        """All that is filed in a minute from this place on; None if it came to the end. Raises Unavailable.

        With `is_last` the minute is not looked at again: what is not settled is filed in another one.
        """
        buckets = [Bucket(minute=place.minute, shard=shard) for shard in range(place.shard, shards.highest + 1)]
        if self.clock.now() > began + BUDGET:
            return place
        firsts = self.parallel.map(lambda one: self._page(one, place.after if one == buckets[0] else ""), buckets)
        for bucket, first in zip(buckets, firsts, strict=True):
            page = _read(first)
            while page.filed or page.unread:
                self._handle(page, bucket, is_last=is_last)
                if not page.more:
                    break
                if self.clock.now() > began + BUDGET:
                    return evolve(place, shard=bucket.shard, after=page.more)
                page = self.series.page(bucket, page.more)
        return None

    def _page(self, bucket: Bucket, after: str) -> FiledPage | Unavailable:
        """Within a thread: what is raised there is raised later."""
        try:
            return self.series.page(bucket, after)
        except Unavailable as error:
            return error

    def _handle(self, page: FiledPage, bucket: Bucket, *, is_last: bool) -> None:
        rows = self._rows([one.schedule_id for one in page.filed])

        def look(filed: Filed) -> Unavailable | None:
            now = self.clock.now()
            is_known = filed.schedule_id in rows
            happened = of_row(filed.schedule_id, rows[filed.schedule_id], now) if is_known else None
            try:
                self._look(filed, happened, bucket, is_last=is_last)
            except Unavailable as error:
                return error
            return None

        def carry(entry: str) -> Unavailable | None:
            try:
                self._carry(entry, bucket, is_last=is_last)
            except Unavailable as error:
                return error
            return None

        failed = [error for error in self.parallel.map(look, page.filed) if error]
        failed += [error for error in self.parallel.map(carry, page.unread) if error]
        if failed and is_last:
            raise failed[0]

    def _rows(self, ids: Sequence[str]) -> dict[str, LedgerRow | None]:
        """What the ledger has of each. What it cannot tell of is left out, and looked at again.

        By halves, so that one row of a later version holds up no other. If both fail, the ledger itself is away.
        """
        rows = self._found(ids) if ids else {}
        if rows is not None or len(ids) < 2:
            return rows or {}
        middle = len(ids) // 2
        halves = (ids[:middle], ids[middle:])
        read = [self._found(half) for half in halves]
        if read == [None, None]:
            return {}
        return {
            one: row
            for half, found in zip(halves, read, strict=True)
            for one, row in (self._rows(half) if found is None else found).items()
        }

    def _found(self, ids: Sequence[str]) -> dict[str, LedgerRow | None] | None:
        try:
            found = self.ledger.read_all(ids)
        except Unavailable as error:
            self.observer.warn("the net cannot read the ledger", error=str(error))
            return None
        return {one: found.get(one) for one in ids}

    def _look(self, filed: Filed, happened: Happened | None, bucket: Bucket, *, is_last: bool) -> None:
        """Steps its series if something has happened to it. Raises Unavailable if it could not be filed again."""
        if happened:
            is_done(lambda: self.step(happened), self.observer, filed.schedule_id, filed.series)
        try:
            cursor = self.series.cursor(filed.owner, filed.series)
        except Unavailable as error:  # perhaps of this series alone
            self.observer.warn("the net cannot read a series", series=filed.series, error=str(error))
            if is_last:
                self._file_again(filed, bucket, next_look(filed.schedule_id, None, happened, self.clock.now()))
            return
        if decide_look(filed.schedule_id, cursor, happened) is Fate.FORGET:
            self._forget(filed, bucket)
            self._report(filed, happened, bucket)
        elif is_last:
            self._file_again(filed, bucket, next_look(filed.schedule_id, cursor, happened, self.clock.now()))

    def _carry(self, entry: str, bucket: Bucket, *, is_last: bool) -> None:
        """What cannot be read is kept for a version that can. Raises Unavailable if it could not be filed again."""
        self.observer.warn("the net cannot read what is filed", entry.partition("#")[2])
        if is_last:
            minute = next_look(entry, None, None, self.clock.now())
            self.files.carry(entry, bucket, Bucket(minute=minute, shard=bucket.shard))

    def _forget(self, filed: Filed, bucket: Bucket) -> None:
        """At its address, too: a series that was deleted leaves it there. First there: this row leads back to it."""
        for one in dict.fromkeys((address_of(filed.schedule_id).bucket, bucket)):
            self.files.forget(filed, one)

    def _report(self, filed: Filed, happened: Happened | None, bucket: Bucket) -> None:
        """The row at its address was there as long as nobody had stepped the series."""
        if happened and address_of(filed.schedule_id).bucket == bucket:
            self.observer.count("SeriesHealed")
            self.observer.note("found by the net", filed.schedule_id, series=filed.series, kind=happened.kind)

    def _file_again(self, filed: Filed, bucket: Bucket, minute: Minute) -> None:
        """First the next row, then away with this one. That at its address stays: events look it up."""
        self.files.look_again(filed, Bucket(minute=minute, shard=bucket.shard))
        if address_of(filed.schedule_id).bucket != bucket:
            self.files.forget(filed, bucket)


def _read(page: FiledPage | Unavailable) -> FiledPage:
    if isinstance(page, Unavailable):
        raise page
    return page
