"""A series: its cursor, which is one small item that changes with each step, and its definition, which changes rarely.

Each change of the cursor is a compare-and-set on its revision, as it is with a ledger row: whatever was decided from an
older cursor is not written (ADR 0094).
"""

from enum import StrEnum
from typing import Any, Final, Protocol

from attrs import evolve, field, frozen
from attrs.validators import ge, instance_of, max_len

from delayer.core.recurrence.terms import OnMissed
from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import YEAR, Millis
from delayer.core.schedule.schedule import NO_TRAITS, Traits
from delayer.core.schedule.schedule_id import Kind

MAX_BESIDE: Final = 10  # live schedules of a series beside its current occurrence
AT_MOST_AHEAD: Final[Millis] = 10 * YEAR  # a series whose next time is later than this waits


class SeriesState(StrEnum):
    """What a series does next."""

    ACTIVE = "active"  # it has a current occurrence
    PAUSED = "paused"
    WAITING = "waiting"  # its next time is too far ahead to be put
    ENDED = "ended"  # its rule has no further time
    FAILED = "failed"  # its rule cannot say the next time
    CANCELLED = "cancelled"  # for good


class Overlap(StrEnum):
    """What happens if an occurrence is due while the one before it still runs."""

    ALLOW = "allow"  # both run
    SKIP = "skip"  # the later one is left out
    QUEUE_ONE = "queue-one"  # the last one that became due meanwhile comes after it


class NewTimes(StrEnum):
    """What a change does to the times of the rule."""

    NONE = "none"  # they stay
    BOUNDS = "bounds"  # the same times begin or end elsewhere: what was used or given up is so for good
    PATTERN = "pattern"  # there are others, which know nothing of what was left behind in the future


class RuleFailed(Exception):
    """The rule cannot say its next time. It is a defect, or a rule that was never checked."""


class Rule(Protocol):
    """When a series is due."""

    def next_after(self, at: Millis) -> Millis | None:
        """The first time later than this instant; None if there is none. Raises RuleFailed."""


@frozen(kw_only=True)
class Backfill:
    """Times of the past that a client wants made up, one after the other."""

    since: Millis  # the first instant that counts
    until: Millis  # the first that does not
    at: Millis  # the time of the one that is put
    current: str = ""  # its schedule id
    left: int = field(default=0, validator=ge(0))  # times that may come after it
    given_up: bool = False  # its owner has cancelled it: no resume puts it again


@frozen(kw_only=True)
class Cursor:
    """Where a series stands. It names every schedule of the series that may still be claimed."""

    series: str
    owner: str
    state: SeriesState
    revision: int = field(default=1, validator=ge(1))  # raised by every write; the compare-and-set goes by it
    definition_revision: int = field(default=1, validator=ge(1))  # of the definition that the current one was put by
    number: int = field(default=0, validator=ge(0))  # of the current occurrence: all up to it were put
    current: str = ""  # its schedule id; empty if there is none
    at: Millis = 0  # its time by the rule, wherever its owner has moved it
    passed: Millis = 0  # the latest time that was put and left behind: no resume puts it again
    made_up: int = 0  # how many past times were made up since the last one that was not
    beside: tuple[str, ...] = field(
        default=(), validator=max_len(MAX_BESIDE)
    )  # run-now, redriven, put again by a PATCH
    backfill: Backfill | None = None
    expires_at: Millis = 0  # of a series that is over: when all of its rows may be forgotten, a whole second

    @property
    def named(self) -> tuple[str, ...]:
        """All that a pause or a DELETE has to cancel."""
        filled = self.backfill.current if self.backfill else ""
        return tuple(one for one in (self.current, *self.beside, filled) if one)


@frozen(kw_only=True)
class SeriesDefinition:
    """What a client asked for. Its `group` holds the series, not its occurrences."""

    owner: str
    repeat: str  # the rule as JSON: what its client sent, with all that was left out (`document_of`)
    overlap: Overlap = Overlap.ALLOW
    on_missed: OnMissed = OnMissed.SKIP
    definition: Definition  # of each occurrence
    name: str = ""
    revision: int = field(default=1, validator=ge(1))  # raised by each PATCH
    created_at: Millis = 0
    traits: Traits = field(default=NO_TRAITS, validator=instance_of(Traits))  # as those of a schedule
    is_relaxed: bool = False  # its occurrences are in the lane without precision (ADR 0097)

    @property
    def kind(self) -> Kind:
        """What the ids of its occurrences say."""
        return Kind.RELAXED_OCCURRENCE if self.is_relaxed else Kind.OCCURRENCE


@frozen(kw_only=True)
class CursorChange:
    """Write `cursor` in place of `over`, if that has still the same revision."""

    cursor: Cursor
    over: Cursor


@frozen
class NoSeries:
    """This owner has no series with this id or name."""


def changed(cursor: Cursor, **values: Any) -> CursorChange:
    """One write of the cursor."""
    return CursorChange(cursor=evolve(cursor, revision=cursor.revision + 1, **values), over=cursor)


def may_write(change: CursorChange, current: Cursor) -> bool:
    """The condition of every write."""
    return current.revision == change.over.revision
