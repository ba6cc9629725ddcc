"""The histories of all schedules. A view: nothing fires or is cancelled by it (ADR 0053)."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import frozen

from delayer.core.history.events import Event, Original
from delayer.core.schedule.instants import Millis
from delayer.core.series.occurrence import Occurrence
from delayer.ports.lists import Members


@frozen(kw_only=True)
class JournalEntry:
    """A lifecycle event, and the text in which it came: that is what is stored."""

    event: Event
    text: str  # a CloudEvent
    occurrence: Occurrence | None = None  # of which series, with the beginning of one


@frozen(kw_only=True)
class PastOccurrence:
    """An occurrence of a series that was put once, whatever became of it."""

    schedule_id: str
    number: int
    time: Millis  # by the rule


@frozen(kw_only=True)
class PastOccurrences:
    """A page of them, those due last first."""

    occurrences: tuple[PastOccurrence, ...]
    more: str  # the id after which the next page begins; empty: this was the last


class WritesJournal(Protocol):
    """Part of Journal."""

    def write(self, entries: Sequence[JournalEntry], keep_for: Millis) -> list[int]:
        """Stores them for `keep_for` (see `expiry_of`); to store one again changes nothing.

        Returns the positions of those not known to be stored.
        """
        ...


class ReadsHistory(Protocol):
    """Part of Journal."""

    def history(self, schedule_id: str, owner: str) -> tuple[Event, ...]:
        """The events that are stored of a schedule of this owner, in order. Those of the last seconds may be missing.

        Those that later events repeat may be missing, too: see `whole`.
        """
        ...


class ReadsBeginnings(Protocol):
    """Part of Journal."""

    def beginnings(self, owner: str, ids: Sequence[str]) -> Mapping[str, Original]:
        """What is known of schedules of this owner, by their ids; each without its payload.

        Those of the last seconds may be missing, and those whose actions are large. Raises Unavailable.
        """
        ...


class ListsOwned(Protocol):
    """Part of Journal."""

    def owned(self, owner: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        """As `Registry.members`, of all schedules of an owner. Those of the last seconds may be missing."""
        ...


class ListsOccurrences(Protocol):
    """Part of Journal."""

    def occurrences(self, owner: str, series: str, after: str, at_most: int) -> PastOccurrences:
        """Those of a series, after one of them (empty: from the last). Those of the last seconds may be missing."""
        ...


class Journal(WritesJournal, ReadsHistory, ReadsBeginnings, ListsOwned, ListsOccurrences, Protocol):
    """All of it."""
