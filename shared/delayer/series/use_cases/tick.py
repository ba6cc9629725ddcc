"""Each minute: the net, the series that wait, and what a new tz database changes (ADR 0100)."""

from collections.abc import Callable, Sequence
from typing import Final

from attrs import evolve, field, frozen

from delayer.accept.rules.status import decide_replace
from delayer.accept.use_cases.issue import Ids
from delayer.engines.ports import Clock, Observer, Parallel, Unavailable
from delayer.ledger.model import LedgerChange, LedgerRow
from delayer.ledger.ports import Ledger
from delayer.records.ports import Control
from delayer.schedule.instants import HOUR, Millis, Minute, minute_of
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import Bucket, Shards, address_of, key_of
from delayer.series.ports import (
    Filed,
    FiledPage,
    SeriesKey,
    SeriesProgress,
    SeriesTable,
    SeriesTransaction,
    SeriesUpkeep,
)
from delayer.series.rules.series import (
    Cursor,
    Directory,
    Round,
    Rule,
    SeriesDefinition,
    SeriesState,
    waking_round,
    went_on,
    zone_round,
)
from delayer.series.rules.stepping import Happened, Over, ReadAgain, Step, decide_wake, of_row, stepped
from delayer.series.rules.upkeep import (
    Fate,
    NetPosition,
    decide_look,
    decide_recompute,
    may_close,
    near_minute,
    next_look,
    recomputed,
)
from delayer.series.use_cases.step import is_done, occurrence, tell_if_failed
from delayer.series.use_cases.stored import Retention

NET_BUDGET: Final[Millis] = 30_000  # begins no further page after this long; what is left waits for the next tick
ROUNDS: Final = 5  # tries against others who change the same series
BUDGET: Final[Millis] = 45_000  # begins no further page after this long
HELD_FOR: Final[Millis] = HOUR  # so long a round waits for what fails, then it goes on without


@frozen(kw_only=True)
class Net:
    """One tick of it."""

    clock: Clock
    control: Control
    series: SeriesTable
    series_upkeep: SeriesUpkeep
    ledger: Ledger
    series_progress: SeriesProgress
    step_series: Callable[[Happened], None]  # StepSeries
    parallel: Parallel
    observer: Observer
    budget: Millis = field(default=NET_BUDGET)
    at_a_time: int = 100  # rows of a page

    def __call__(self, began: Millis) -> bool:
        """First the minute that was over just now, so that a lost event costs minutes also during a catch-up.

        Then all that can be closed, as far as it comes: whether that was all. It comes one page further at least.
        Raises Unavailable: the next tick goes on where this one ended.
        """
        shards = self.control.shards()
        if shards is None:
            return True  # nothing was ever scheduled
        place = self.series_progress.place() or NetPosition(minute=shards.since)
        near = near_minute(began)
        until = began + self.budget
        if near >= place.minute:
            self._look_at(NetPosition(minute=near), shards, until - self.budget // 2, is_last=False)
        place = self._close(place, shards, until)
        self.series_progress.reach(place)
        self.observer.note("looked after series", minutesBehind=minute_of(began) - place.minute)
        return not may_close(place.minute, self.clock.now())

    def _close(self, place: NetPosition, shards: Shards, until: Millis) -> NetPosition:
        """How far it came."""
        until = max(until, self.clock.now())
        while may_close(place.minute, self.clock.now()):
            try:
                stopped = self._look_at(place, shards, until, is_last=True)
            except Unavailable:
                self.series_progress.reach(place)  # what is before it is done
                raise
            if stopped:
                return stopped
            place = NetPosition(minute=place.minute + 1)
        return place

    def _look_at(self, place: NetPosition, shards: Shards, until: Millis, *, is_last: bool) -> NetPosition | None:
        """All that is filed in a minute from this place on; None if it came to the end. Raises Unavailable.

        With `is_last` the minute is not looked at again: what is not settled is filed in another one.
        """
        buckets = [Bucket(minute=place.minute, shard=shard) for shard in range(place.shard, shards.highest + 1)]
        if self.clock.now() > until:
            return place
        firsts = self.parallel.map(lambda one: self._page(one, place.after if one == buckets[0] else ""), buckets)
        for bucket, first in zip(buckets, firsts, strict=True):
            page = _read(first)
            while page.filed or page.unread:
                self._handle(page, bucket, is_last=is_last)
                if not page.more:
                    break
                if self.clock.now() > until:
                    return evolve(place, shard=bucket.shard, after=page.more)
                page = self.series.page(bucket, page.more, self.at_a_time)
        return None

    def _page(self, bucket: Bucket, after: str) -> FiledPage | Unavailable:
        """Within a thread: what is raised there is raised later."""
        try:
            return self.series.page(bucket, after, self.at_a_time)
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
        """The ledger's row of each. An id that it cannot tell of is left out, and looked at again.

        By halves, so that no other waits for one row of a later version. If both fail, the ledger itself is away.
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
            is_done(lambda: self.step_series(happened), self.observer, filed.schedule_id, filed.series)
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
        """A row that cannot be read is kept for a version that can. Raises Unavailable if it could not be
        filed again.
        """
        self.observer.warn("the net cannot read what is filed", entry.partition("#")[2])
        if is_last:
            minute = next_look(entry, None, None, self.clock.now())
            self.series_upkeep.carry(entry, bucket, Bucket(minute=minute, shard=bucket.shard))

    def _forget(self, filed: Filed, bucket: Bucket) -> None:
        """At its address, too: a series that was deleted leaves it there. First there: this row leads back to it."""
        for one in dict.fromkeys((address_of(filed.schedule_id).bucket, bucket)):
            self.series_upkeep.forget(filed, one)

    def _report(self, filed: Filed, happened: Happened | None, bucket: Bucket) -> None:
        """The row at its address was there as long as nobody had stepped the series."""
        if happened and address_of(filed.schedule_id).bucket == bucket:
            self.observer.count("SeriesHealed")
            self.observer.note("found by the net", filed.schedule_id, series=filed.series, kind=happened.kind)

    def _file_again(self, filed: Filed, bucket: Bucket, minute: Minute) -> None:
        """First the next row, then away with this one. That at its address stays: events look it up."""
        self.series_upkeep.look_again(filed, Bucket(minute=minute, shard=bucket.shard))
        if address_of(filed.schedule_id).bucket != bucket:
            self.series_upkeep.forget(filed, bucket)


def _read(page: FiledPage | Unavailable) -> FiledPage:
    if isinstance(page, Unavailable):
        raise page
    return page


@frozen(kw_only=True)
class Renew:
    """One series at a time. It is safe to repeat it."""

    clock: Clock
    series: SeriesTable
    ledger: Ledger
    ids: Ids
    rule_of: Callable[[SeriesDefinition], Rule]
    retention: Retention
    observer: Observer

    def wake(self, key: SeriesKey) -> None:
        """Puts the next occurrence of a series that waits, if its time has come near enough. Raises Unavailable."""
        self._try(key, self._waking)

    def recompute(self, key: SeriesKey) -> None:
        """Puts the current occurrence for another time, if its rule says so now. Raises Unavailable."""
        self._try(key, self._recomputing)

    def _try(
        self, key: SeriesKey, decide: Callable[[Cursor, SeriesDefinition], SeriesTransaction | ReadAgain | None]
    ) -> None:
        for _ in range(ROUNDS):
            cursor = self.series.cursor(key.owner, key.series)
            definition = self.series.definition(key.owner, key.series)
            if cursor is None or definition is None:
                return
            decided = decide(cursor, definition)
            if decided is None:
                return
            if isinstance(decided, SeriesTransaction) and self.series.write(decided):
                self.observer.note("renewed", series=key.series, state=decided.cursor.state, at=decided.cursor.at)
                tell_if_failed(self.observer, decided)
                return
        raise Unavailable("others change the series all the time")

    def _waking(self, cursor: Cursor, definition: SeriesDefinition) -> SeriesTransaction | ReadAgain | None:
        decision = decide_wake(cursor, definition, self.rule_of(definition), self.clock.now())
        if isinstance(decision, ReadAgain):
            return decision
        if not isinstance(decision, Step | Over) or decision == Over(SeriesState.WAITING):
            return None
        put = self._issued(decision, cursor, definition) if isinstance(decision, Step) else None
        change = stepped(cursor, decision, put.id if put else "")
        return evolve(self.retention.transaction(change, definition), put=(put,) if put else ())

    def _recomputing(self, cursor: Cursor, definition: SeriesDefinition) -> SeriesTransaction | ReadAgain | None:
        row = self.ledger.read(cursor.current) if cursor.current else None
        now = self.clock.now()
        decision = decide_recompute(cursor, definition, self.rule_of(definition), row, now)
        if isinstance(decision, ReadAgain):
            return decision
        if not isinstance(decision, Step):
            return None
        put = self._issued(decision, cursor, definition)
        end = decide_replace(cursor.current, cursor.owner, row, put.id, now)
        if not isinstance(end, LedgerChange):
            return None  # it was claimed just now: the step after it goes by the new times
        change = recomputed(cursor, decision, put.id)
        return evolve(
            self.retention.transaction(change, definition), put=(put,), ends=(end,), delete=(key_of(cursor.current),)
        )

    def _issued(self, step: Step, cursor: Cursor, definition: SeriesDefinition) -> Schedule:
        return occurrence(self.ids, definition, cursor.series, step.number, step.at, step.at)


@frozen(kw_only=True)
class SeriesTick:
    """One tick."""

    clock: Clock
    net: Callable[[Millis], bool]  # Net
    series_upkeep: SeriesUpkeep
    series_progress: SeriesProgress
    renew_series: Renew
    tz_version: Callable[[], str]
    parallel: Parallel
    observer: Observer
    budget: Millis = field(default=BUDGET)
    at_a_time: int = 100  # series of a page

    def __call__(self) -> bool:
        """Whether all is done that there is. Raises Unavailable if AWS failed; the next tick goes on where this one
        ended.

        Whatever fails of the net and of the two rounds, the others come first.
        """
        began, are_over = self.clock.now(), []
        try:
            are_over.append(self.net(began))
        finally:
            try:
                wake = self.renew_series.wake
                are_over.append(self._go_on(Directory.WAITING, lambda stored: waking_round(stored, began), wake, began))
            finally:
                recompute = self.renew_series.recompute
                are_over.append(
                    self._go_on(
                        Directory.ZONED, lambda stored: zone_round(stored, self.tz_version(), began), recompute, began
                    )
                )
        return all(are_over)

    def _go_on(
        self,
        directory: Directory,
        wanted: Callable[[Round | None], Round],
        renew: Callable[[SeriesKey], None],
        began: Millis,
    ) -> bool:
        """Some pages of a round, and notes after each how far it came: whether to its end."""
        stored = self.series_progress.round(directory)
        current = wanted(stored)
        if stored != current:
            self.observer.note("a round through series begins", directory=directory, label=current.label)
            self.series_progress.note(directory, current)
        while not current.is_over:
            page = self.series_upkeep.listed(directory, current.part, current.after, self.at_a_time)
            done = self.parallel.map(
                lambda key: is_done(lambda: renew(key), self.observer, series=key.series), page.keys
            )
            if not all(done) and self.clock.now() < current.began + HELD_FOR:
                raise Unavailable(f"{done.count(False)} series could not be renewed; the next tick tries again")
            current = went_on(current, directory, page.more)
            self.series_progress.note(directory, current)
            if self.clock.now() > began + self.budget:
                break
        return current.is_over
