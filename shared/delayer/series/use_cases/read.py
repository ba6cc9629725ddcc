"""Looks series up, by id, by name, or all of an owner or a group; and says what a rule means."""

from typing import Final

from attrs import evolve, frozen

from delayer.accept.rules.status import next_attempt_at
from delayer.engines.ports import Clock
from delayer.flow.rules.block import Waiting
from delayer.flow.use_cases.view import Waits
from delayer.ledger.model import State
from delayer.ledger.ports import Ledger
from delayer.recurrence.describe import description
from delayer.recurrence.times import times
from delayer.recurrence.zones import tz_version
from delayer.schedule.instants import SECOND, Malformed, Millis
from delayer.schedule.schedule import given
from delayer.schedule.schedule_id import point_in_time_of
from delayer.series.ports import SeriesEntry, SeriesTable
from delayer.series.rules.admission import admit_preview
from delayer.series.rules.request import SeriesListing
from delayer.series.rules.rules import next_times, words_of
from delayer.series.rules.series import OVER, Cursor, NoSeries, RuleFailed, SeriesDefinition, SeriesState
from delayer.series.rules.stepping import passed_by

HAS_A_NEXT = frozenset({SeriesState.ACTIVE, SeriesState.WAITING})
MAX_READ: Final = 1_000  # entries for one page: a filter that nothing passes must not run into the timeout
AT_A_TIME: Final = 25  # definitions may be large, and the page full before all are read
MAX_TIME: Final[Millis] = 4 * SECOND  # after this long the page ends, full or not
PAGE_BYTES: Final = 1_500_000  # of definitions: Lambda answers with six MiB at most, escaped twice


@frozen(kw_only=True)
class SeriesFound:
    """A series as it stands."""

    cursor: Cursor
    definition: SeriesDefinition
    next_at: Millis  # 0: it has no next time, or is paused
    words: str  # its rule in English
    tz_version: str
    waiting: Waiting | None = None  # why its current occurrence waits, if that was asked for


@frozen(kw_only=True)
class Times:
    """The next times of a rule."""

    times: tuple[Millis, ...]
    words: str
    tz_version: str


@frozen(kw_only=True)
class ReadSeries:
    """One call of the API."""

    clock: Clock
    series: SeriesTable
    ledger: Ledger
    waits: Waits

    def by_id(self, series: str, owner: str) -> SeriesFound | NoSeries:
        """With what its current occurrence waits for. Raises Unavailable if AWS failed."""
        answer = self._found(series, owner)
        return answer if isinstance(answer, NoSeries) else evolve(answer, waiting=self._waiting(answer, owner))

    def _found(self, series: str, owner: str) -> SeriesFound | NoSeries:
        cursor = self.series.cursor(owner, series)
        definition = self.series.definition(owner, series) if cursor else None
        return found(cursor, definition, self.clock.now()) if cursor and definition else NoSeries()

    def _waiting(self, answer: SeriesFound, owner: str) -> Waiting | None:
        """Of an occurrence that is on time nothing is read; of one that waits for nothing, its row is not."""
        current, now = answer.cursor.current, self.clock.now()
        if not current or point_in_time_of(current) >= now:
            return None
        definition = answer.definition.definition
        if self.waits(owner, definition) is None:
            return None
        row = self.ledger.read_all([current]).get(current)
        if row is None or row.state is State.SCHEDULED:
            return self.waits(owner, definition)
        due = next_attempt_at(row, now)
        return self.waits(owner, definition, due) if due else None

    def by_name(self, name: str, owner: str) -> SeriesFound | NoSeries:
        """The series that has the name, or had it last. Raises Unavailable if AWS failed."""
        holder = self.series.named(owner, name)
        return self.by_id(holder, owner) if holder else NoSeries()

    def times(self, series: str, owner: str, count: int) -> Times | NoSeries:
        """The next so many, from now on; none of a series that is over. Raises Unavailable if AWS failed."""
        answer = self._found(series, owner)
        if isinstance(answer, NoSeries):
            return answer
        is_over = answer.cursor.state in OVER
        times = () if is_over else _times(answer.cursor, answer.definition, self.clock.now(), count)
        return Times(times=times, words=answer.words, tz_version=answer.tz_version)


def found(cursor: Cursor, definition: SeriesDefinition, now: Millis) -> SeriesFound:
    """With what follows from both."""
    coming = _times(cursor, definition, now, 1) if cursor.state in HAS_A_NEXT else ()
    return SeriesFound(
        cursor=cursor,
        definition=definition,
        next_at=coming[0] if coming else 0,
        words=words_of(definition),
        tz_version=tz_version(),
    )


def _times(cursor: Cursor, definition: SeriesDefinition, now: Millis, count: int) -> tuple[Millis, ...]:
    """A time that was left behind is not named again: it may be claimed a moment early, or be given up by its owner."""
    try:
        return next_times(definition, max(passed_by(definition, cursor.series, now), cursor.passed), count)
    except (RuleFailed, Malformed):
        return ()


@frozen(kw_only=True)
class PreviewSeries:
    """One call of the API."""

    clock: Clock

    def __call__(self, body: bytes) -> Times:
        """The next times from now on. Raises NotJson, TooLarge or Invalid."""
        now = self.clock.now()
        request = admit_preview(body, now)
        return Times(
            times=times(request.rule, now, request.count),
            words=description(request.rule),
            tz_version=tz_version(),
        )


@frozen(kw_only=True)
class SeriesListed:
    """A page. `after` is what the next one follows; None: this was the last."""

    series: tuple[SeriesFound, ...]
    after: SeriesEntry | None


@frozen(kw_only=True)
class ListSeries:
    """One call of the API."""

    clock: Clock
    series: SeriesTable

    def __call__(self, listing: SeriesListing, owner: str) -> SeriesListed:
        """Raises Unavailable if AWS failed. A page may hold fewer than the limit, and have a next one."""
        listed: list[SeriesFound] = []
        after = SeriesEntry(group=listing.after[0], series=listing.after[1]) if listing.after else None
        room, until = PAGE_BYTES, self.clock.now() + MAX_TIME
        for _ in range(MAX_READ // AT_A_TIME):
            # Without a filter each is shown: more than are wanted need not be looked up.
            wanted = AT_A_TIME if listing.state else min(AT_A_TIME, listing.limit - len(listed))
            page = self.series.listed(owner, listing.group, after, wanted)
            for entry, one in self._find(owner, listing, page.entries):
                if one:
                    room -= _size(one.definition)
                    if len(listed) == listing.limit or (listed and room < 0):
                        return SeriesListed(series=tuple(listed), after=after)
                    listed.append(one)
                after = entry
            after = page.more
            if not after or len(listed) == listing.limit or self.clock.now() > until:
                break
        return SeriesListed(series=tuple(listed), after=after)

    def _find(
        self, owner: str, listing: SeriesListing, entries: tuple[SeriesEntry, ...]
    ) -> list[tuple[SeriesEntry, SeriesFound | None]]:
        """None for what is in another state, or was forgotten just now."""
        cursors = self.series.cursors(owner, [one.series for one in entries])
        wanted = [one for one, cursor in cursors.items() if listing.state in (None, cursor.state)]
        definitions = self.series.definitions(owner, wanted)
        now = self.clock.now()
        return [
            (one, found(cursors[one.series], definitions[one.series], now) if one.series in definitions else None)
            for one in entries
        ]


def _size(definition: SeriesDefinition) -> int:
    """Bytes in the answer that its client made."""
    return sum(len(text.encode()) for text in given(definition.definition).values())
