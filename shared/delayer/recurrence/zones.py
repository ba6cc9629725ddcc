"""Time zones by the tz database of the package `tzdata`, and by no other: the one of the machine may be older or newer.

The wall clock of a zone is counted as instants are: in milliseconds since 1970-01-01T00:00, local time.
"""

from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from importlib.resources import files
from io import BytesIO
from typing import Final
from zoneinfo import ZoneInfo

import tzdata
from attrs import frozen

from delayer.recurrence.terms import BadText
from delayer.schedule.instants import DAY, HOUR, SECOND, Millis

EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001 # a wall time
ALLOWED: Final = "a zone of the IANA database, like Europe/Lisbon or UTC"


def tz_version() -> str:
    """The release of the tz database that all times are reckoned with, like `2026f`."""
    version: str = tzdata.IANA_VERSION
    return version


@cache
def zone_names() -> frozenset[str]:
    """All that the database knows."""
    return frozenset(files("tzdata").joinpath("zones").read_text().split())


def check_zone(name: str) -> str:
    """The name as it is. Raises BadText if there is no such zone."""
    if name not in zone_names():
        known = {one.lower(): one for one in zone_names()}.get(name.lower())
        raise BadText("there is no such time zone", f"did you mean {known}?" if known else ALLOWED)
    return name


@frozen(kw_only=True)
class Span:
    """A time in which the clocks of a zone are not changed."""

    begin: Millis
    end: Millis  # the first instant that is no longer in it
    offset: Millis  # of the wall clock, ahead of UTC
    before: Millis  # the offset that was changed at its beginning


@lru_cache(maxsize=256)
def zone_info(name: str) -> ZoneInfo:
    """The zone of this name, which is one of `zone_names`."""
    return ZoneInfo.from_file(BytesIO(files("tzdata").joinpath("zoneinfo", *name.split("/")).read_bytes()), key=name)


def offset_at(zone: str, instant: Millis) -> Millis:
    """How far the wall clock is ahead of UTC."""
    at = datetime.fromtimestamp(instant // SECOND, UTC).astimezone(zone_info(zone)).utcoffset()
    assert at is not None
    return at // timedelta(milliseconds=1)


@lru_cache(maxsize=4096)
def _changes(zone: str, year: int) -> tuple[Millis, ...]:
    """The instants of a year in UTC at which the clocks of a zone are changed: looked for day by day."""
    days = range(start_of_year(year), start_of_year(year + 1), DAY)
    return tuple(
        _change_between(zone, day, day + DAY) for day in days if offset_at(zone, day) != offset_at(zone, day + DAY)
    )


def _change_between(zone: str, early: Millis, late: Millis) -> Millis:
    old = offset_at(zone, early)
    while late - early > SECOND:
        middle = (early + late) // 2 // SECOND * SECOND
        early, late = (middle, late) if offset_at(zone, middle) == old else (early, middle)
    return late


def start_of_year(year: int) -> Millis:
    """Its first instant in UTC."""
    return (datetime(year, 1, 1, tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)


def span_at(zone: str, instant: Millis) -> Span:
    """The time between two changes of the clocks that an instant lies in; of a longer one, three years of it."""
    year = datetime.fromtimestamp(instant // SECOND, UTC).year
    changes = [*_changes(zone, year - 1), *_changes(zone, year), *_changes(zone, year + 1)]
    begin = max((one for one in changes if one <= instant), default=start_of_year(year - 1))
    end = min((one for one in changes if one > instant), default=start_of_year(year + 2))
    return Span(begin=begin, end=end, offset=offset_at(zone, begin), before=offset_at(zone, begin - SECOND))


def wall_at(zone: str, instant: Millis) -> Millis:
    """The time that the wall clock shows."""
    return instant + offset_at(zone, instant)


def instants_of(zone: str, wall: Millis) -> tuple[Millis, ...]:
    """When the wall clock shows this: once, twice, or never."""
    candidates = sorted({wall - offset_at(zone, wall + shift) for shift in (-2 * DAY, -DAY, -HOUR, HOUR, DAY, 2 * DAY)})
    return tuple(one for one in candidates if wall_at(zone, one) == wall)
