"""Lists the series of an owner or of a group, each as it stands at the moment of the answer."""

from typing import Final

from attrs import frozen

from delayer.core.api.series.request import SeriesListing
from delayer.core.schedule.definition import given
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.series.series import SeriesDefinition
from delayer.ports.clock import Clock
from delayer.ports.series import ListsSeries, SeriesEntry
from delayer.use_cases.series.reading.read import SeriesFound, found

MAX_READ: Final = 1_000  # entries for one page: a filter that nothing passes must not run into the timeout
AT_A_TIME: Final = 25  # definitions may be large, and the page full before all are read
MAX_TIME: Final[Millis] = 4 * SECOND  # after this long the page ends, full or not
PAGE_BYTES: Final = 1_500_000  # of definitions: Lambda answers with six MiB at most, escaped twice


@frozen(kw_only=True)
class SeriesListed:
    """A page. `after` is what the next one follows; None: this was the last."""

    series: tuple[SeriesFound, ...]
    after: SeriesEntry | None


@frozen(kw_only=True)
class ListSeries:
    """One call of the API."""

    clock: Clock
    series: ListsSeries

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
