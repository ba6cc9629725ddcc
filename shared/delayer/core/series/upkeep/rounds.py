"""Going through all series of a directory: those that wait for a time far ahead, and those whose rule has a zone.

Each directory has an entry for each such series, written with the cursor, so that nothing has to be scanned. A round
goes through all entries once, in portions, and is noted: whoever comes next goes on where it ended.
"""

from enum import StrEnum
from typing import Final

import msgspec
from attrs import evolve, frozen

from delayer.core.schedule.instants import HOUR, Millis, format_instant
from delayer.core.series.retention import OVER
from delayer.core.series.series import Cursor, SeriesDefinition, SeriesState

WITHOUT_RULES: Final = frozenset({"UTC", "Etc/UTC"})  # zones that no version of the tz database changes
ONCE_MORE_AFTER: Final[Millis] = HOUR  # by then no function goes by the version before


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
