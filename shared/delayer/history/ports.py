"""The journal of lifecycle events, the lists that it keeps, and how many schedules are live (ADR 0052, 0053)."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import frozen

from delayer.history.model import LifecycleEvent, Occurrence, Original
from delayer.schedule.instants import Millis


@frozen(kw_only=True)
class Member:
    """One schedule of a list."""

    schedule_id: str
    created_at: Millis


@frozen(kw_only=True)
class Members:
    """A page of a list, in due order."""

    members: tuple[Member, ...]
    more: str  # the id after which the next page begins; empty: this was the last


class LiveCount(Protocol):
    """Counts the live schedules of each owner."""

    def started(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        """One more; a schedule counts once, and not if its end was noted already."""
        ...

    def ended(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        """One less, if it was counted."""
        ...

    def live(self, owner: str, now: Millis) -> int:
        """How many are live and due in the last four weeks, in these four, or later; never below 0.

        An older one, whose end never arrived here, does not count any more.
        """
        ...


@frozen(kw_only=True)
class JournalEntry:
    """A lifecycle event, and the text in which it came: that is what is stored."""

    event: LifecycleEvent
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


class Journal(Protocol):
    """Keeps lifecycle events, and the lists that are made of them."""

    def write(self, entries: Sequence[JournalEntry], keep_for: Millis) -> list[int]:
        """Stores them for `keep_for` (see `expiry_of`); to store one again changes nothing.

        Returns the positions of those not known to be stored.
        """
        ...

    def history(self, schedule_id: str, owner: str) -> tuple[LifecycleEvent, ...]:
        """The events that are stored of a schedule of this owner, in order. Those of the last seconds may be missing.

        Those that later events repeat may be missing, too: see `whole`.
        """
        ...

    def beginnings(self, owner: str, ids: Sequence[str]) -> Mapping[str, Original]:
        """Returns the entries of schedules of this owner, by their ids; each without its payload.

        Those of the last seconds may be missing, and those whose actions are large. Raises Unavailable.
        """
        ...

    def owned(self, owner: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        """As `Registry.members`, of all schedules of an owner. Those of the last seconds may be missing."""
        ...

    def occurrences(self, owner: str, series: str, after: str, at_most: int) -> PastOccurrences:
        """Lists the occurrences of a series, after one of them (empty: from the last).

        Those of the last seconds may be missing.
        """
        ...
