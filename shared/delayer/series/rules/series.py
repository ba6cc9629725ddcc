"""A series: its cursor, which is one small item that changes with each step, and its definition, which changes rarely.

Each change of the cursor is a compare-and-set on its revision, as it is with a ledger row: whatever was decided from an
older cursor is not written (ADR 0094).
"""

from enum import StrEnum
from typing import Any, Final, Protocol

import msgspec
from attrs import evolve, field, frozen
from attrs.validators import ge, instance_of, max_len

from delayer.recurrence.terms import OnMissed
from delayer.schedule.instants import DAY, HOUR, SECOND, YEAR, Millis, format_instant
from delayer.schedule.schedule import NO_TRAITS, Definition, Traits
from delayer.schedule.schedule_id import IdKind, point_in_time_of

MAX_BESIDE: Final = 10  # live schedules of a series beside its current occurrence
AT_MOST_AHEAD: Final[Millis] = 10 * YEAR  # a series whose next time is later than this waits
KEPT_AT_LEAST: Final[Millis] = 90 * DAY  # who redrives a dead letter asks the cursor, and none is older
RENEWED_BELOW: Final[Millis] = KEPT_AT_LEAST // 2  # longer than one occurrence can be at work
WITHOUT_RULES: Final = frozenset({"UTC", "Etc/UTC"})  # zones that no version of the tz database changes
ONCE_MORE_AFTER: Final[Millis] = HOUR  # by then no function goes by the version before


class SeriesState(StrEnum):
    """The state says what a series does next."""

    ACTIVE = "active"  # it has a current occurrence
    PAUSED = "paused"
    WAITING = "waiting"  # its next time is too far ahead to be put
    ENDED = "ended"  # its rule has no further time
    FAILED = "failed"  # its rule cannot say the next time
    CANCELLED = "cancelled"  # for good


class Overlap(StrEnum):
    """It decides about an occurrence that is due while the one before it still runs."""

    ALLOW = "allow"  # both run
    SKIP = "skip"  # the later one is left out
    QUEUE_ONE = "queue-one"  # the last one that became due meanwhile comes after it


class NewTimes(StrEnum):
    """A change does one of these to the times of the rule."""

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
    """A client asked for this. Its `group` holds the series, not its occurrences."""

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
    def kind(self) -> IdKind:
        """The kind that the ids of its occurrences say."""
        return IdKind.RELAXED_OCCURRENCE if self.is_relaxed else IdKind.OCCURRENCE


@frozen(kw_only=True)
class CursorChange:
    """Write `cursor` in place of `over`, if that has still the same revision."""

    cursor: Cursor
    over: Cursor


@frozen(kw_only=True)
class MayStillRun:
    """An attempt from before they were redriven may still be under way. The call is to be repeated.

    The cursor is as it says; only these schedules are not settled.
    """

    cursor: Cursor
    schedules: tuple[str, ...]
    wait: Millis  # from now on; then no such attempt is under way


@frozen
class NoSeries:
    """This owner has no series with this id or name."""


def changed(cursor: Cursor, **values: Any) -> CursorChange:
    """One write of the cursor."""
    return CursorChange(cursor=evolve(cursor, revision=cursor.revision + 1, **values), over=cursor)


def may_write(change: CursorChange, current: Cursor) -> bool:
    """The condition of every write."""
    return current.revision == change.over.revision


OVER: Final = frozenset({SeriesState.ENDED, SeriesState.CANCELLED})  # one that failed waits for a better rule


def kept(cursor: Cursor, now: Millis, keep_for: Millis) -> Cursor:
    """With the instant at which it may be forgotten: as long after its end as the journal keeps histories.

    What was over before keeps the instant that it had, unless that comes near while the cursor names something: a
    run-now, a redrive or a backfill of a series that ended long ago must find its cursor as long as it is at work, and
    so must an occurrence that its owner has moved far ahead. Raises ValueError if it names what is not an id.
    """
    if cursor.state not in OVER:
        return evolve(cursor, expires_at=0)
    last = max(now, *(point_in_time_of(one) for one in cursor.named)) if cursor.named else now
    if cursor.expires_at and not (cursor.named and cursor.expires_at < last + RENEWED_BELOW):
        return cursor
    until = last + max(keep_for, KEPT_AT_LEAST)
    return evolve(cursor, expires_at=-(-until // SECOND) * SECOND)


class Directory(StrEnum):
    """Which series are listed."""

    WAITING = "waiting"  # their next time is too far ahead to be put
    ZONED = "zoned"  # their times depend on the tz database


PARTS: Final = {Directory.WAITING: 1, Directory.ZONED: 16}  # a list each: one takes 1,000 writes a second


@frozen(kw_only=True)
class Round:
    """How far all entries of a directory were gone through."""

    label: str  # what for: another one is another round
    began: Millis
    part: int = 0
    after: str = ""  # the last entry that was looked at in this part
    is_over: bool = False


def is_waiting(cursor: Cursor | None) -> bool:
    """Whether it is in the directory of waiting ones."""
    return cursor is not None and cursor.state is SeriesState.WAITING


def is_zoned(cursor: Cursor | None, definition: SeriesDefinition | None) -> bool:
    """Whether it is in the directory of those with a zone."""
    return bool(cursor and definition and cursor.state not in OVER and _has_zone(definition.repeat))


def _has_zone(repeat: str) -> bool:
    """Of a document that cannot be read it is not known."""
    try:
        return msgspec.json.decode(repeat).get("timeZone", "UTC") not in WITHOUT_RULES
    except (msgspec.MsgspecError, AttributeError, TypeError, UnicodeError, RecursionError):
        return True


def waking_round(stored: Round | None, now: Millis) -> Round:
    """One each day: a series that waits has years of time."""
    return _round(stored, format_instant(now)[:10], now)


def zone_round(stored: Round | None, version: str, now: Millis) -> Round:
    """One for each new version of the tz database, and one more an hour after that.

    While a release is deployed, some functions still go by the version before, and may step a series by it.
    """
    again = f"{version}, once more"
    if stored and stored.label == version and stored.is_over and now - stored.began >= ONCE_MORE_AFTER:
        return _round(stored, again, now)
    return stored if stored and stored.label == again else _round(stored, version, now)


def _round(stored: Round | None, label: str, now: Millis) -> Round:
    return stored if stored and stored.label == label else Round(label=label, began=now)


def went_on(current: Round, directory: Directory, after: str) -> Round:
    """After a page; `after` is its last entry if there are more, and empty if it was the last page of its part."""
    if after:
        return evolve(current, after=after)
    part = current.part + 1
    return evolve(current, part=part, after="", is_over=part == PARTS[directory])
