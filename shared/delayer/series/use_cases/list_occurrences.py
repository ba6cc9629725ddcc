"""Lists what became of the occurrences of a series: the latest first, each with its state and its attempts."""

from collections.abc import Sequence
from typing import Final

from attrs import evolve, frozen

from delayer.accept.rules.status import Status, status_of
from delayer.accept.use_cases.list_schedules import Outlines
from delayer.engines.ports import Clock
from delayer.history.ports import Journal, PastOccurrence, PastOccurrences
from delayer.ledger.model import State
from delayer.ledger.ports import Ledger
from delayer.records.ports import Records
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.schedule_id import address_of, key_of
from delayer.series.ports import SeriesTable
from delayer.series.rules.request import OccurrenceListing
from delayer.series.rules.series import Cursor, NoSeries

MAX_READ: Final = 1_000  # occurrences for one page: a filter that nothing passes must not run into the timeout
AT_A_TIME: Final = 25
MAX_TIME: Final[Millis] = 4 * SECOND  # after this long the page ends, full or not


@frozen(kw_only=True)
class OccurrenceFound:
    """One of them, where it is now."""

    which: PastOccurrence
    status: Status


@frozen(kw_only=True)
class OccurrencesListed:
    """A page. `after` is the id that the next one follows; empty: this was the last."""

    series: str
    occurrences: tuple[OccurrenceFound, ...]
    after: str


@frozen
class NoJournal:
    """The journal is switched off: nobody knows which occurrences there were."""


@frozen(kw_only=True)
class ListOccurrences:
    """One call of the API."""

    clock: Clock
    series: SeriesTable
    listed_journal: Journal | None  # None: it is switched off
    ledger: Ledger
    timed_records: Records
    outlines: Outlines

    def __call__(self, listing: OccurrenceListing, series: str, owner: str) -> OccurrencesListed | NoSeries | NoJournal:
        """Raises Unavailable if AWS failed. A page may hold fewer than the limit, and have a next one."""
        cursor = self.series.cursor(owner, series)
        if cursor is None:
            return NoSeries()
        if self.listed_journal is None:
            return NoJournal()
        page = self._listed(self.listed_journal, cursor, listing)
        found = self.outlines([one.status for one in page.occurrences], owner)
        outlined = [evolve(one, status=status) for one, status in zip(page.occurrences, found, strict=True)]
        return evolve(page, occurrences=tuple(outlined))

    def _listed(self, journal: Journal, cursor: Cursor, listing: OccurrenceListing) -> OccurrencesListed:
        series, owner = cursor.series, cursor.owner
        listed: list[OccurrenceFound] = []
        after, until = listing.after, self.clock.now() + MAX_TIME
        for _ in range(MAX_READ // AT_A_TIME):
            page = self._page(journal, cursor, after, AT_A_TIME if listing.state else listing.limit - len(listed))
            for one in self._find(journal, page.occurrences, owner):
                if listing.state in (None, one.status.state):
                    if len(listed) == listing.limit:
                        return OccurrencesListed(series=series, occurrences=tuple(listed), after=after)
                    listed.append(one)
                after = one.which.schedule_id
            after = page.more
            if not after or len(listed) == listing.limit or self.clock.now() > until:
                break
        return OccurrencesListed(series=series, occurrences=tuple(listed), after=after)

    def _page(self, journal: Journal, cursor: Cursor, after: str, wanted: int) -> PastOccurrences:
        """The current one is known before the journal has it."""
        at_most = min(AT_A_TIME, wanted)
        page = journal.occurrences(cursor.owner, cursor.series, after, at_most)
        first = page.occurrences[0].schedule_id if page.occurrences else ""
        if after or not cursor.current or (first and _place(cursor.current) <= _place(first)):
            return page
        current = PastOccurrence(schedule_id=cursor.current, number=cursor.number, time=cursor.at)
        both = (current, *page.occurrences)
        more = page.more if len(both) <= at_most else both[at_most - 1].schedule_id
        return PastOccurrences(occurrences=both[:at_most], more=more)

    def _find(self, journal: Journal, occurrences: Sequence[PastOccurrence], owner: str) -> list[OccurrenceFound]:
        """The ledger counts most, then the table; what is too old for both is remembered by the journal."""
        ids = [one.schedule_id for one in occurrences]
        rows = self.ledger.read_all(ids)
        waiting = [one for one in ids if one not in rows or rows[one].state is State.SCHEDULED]
        records = self.timed_records.read_all([key_of(one) for one in waiting])
        now = self.clock.now()
        found = []
        for which in occurrences:
            one = which.schedule_id
            status = status_of(one, rows.get(one), records.get(key_of(one)), now)
            if not isinstance(status, Status):
                status = status_of(one, None, None, now, journal.history(one, owner))
            if isinstance(status, Status):
                found.append(OccurrenceFound(which=which, status=status))
        return found


def _place(schedule_id: str) -> tuple[Millis, str]:
    return address_of(schedule_id).due, schedule_id
