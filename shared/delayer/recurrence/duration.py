"""`every`: a duration of ISO 8601. Days and longer are counted on the calendar of a zone, hours and shorter are exact.

The n-th time is reckoned from the anchor, never from the one before it, so that the 31st stays the 31st: in a month
without it the last day takes its place, and a 29 February is the 28th in most years.
"""

import re
from calendar import monthrange
from collections.abc import Hashable
from datetime import datetime, timedelta
from typing import Final

from attrs import frozen

from delayer.recurrence.terms import BadText
from delayer.recurrence.zones import EPOCH, instants_of, offset_at, span_at, wall_at
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis, parse_instant

MOMENTS: Final = "2027-03-01T09:00:00Z, or by the zone of the rule 2027-03-01T09:00:00, or 2027-03-01"
_LOCAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
EXAMPLES: Final = "a duration of ISO 8601, like PT15M, PT36H, P1D, P2W, P1M or P1Y"
LAST_WALL: Final[Millis] = 7_258_118_400_000  # the year 2199 ends; EventBridge's years end there, too
_DURATION = re.compile(
    r"P(?=.)(?:(\d{1,6})Y)?(?:(\d{1,6})M)?(?:(\d{1,6})W)?(?:(\d{1,6})D)?"
    r"(?:T(?=.)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9})S)?)?",
    re.ASCII,
)


def parse_wall(text: str, zone: str) -> Millis:
    """A wall time; of an instant what the clock shows then. Raises BadText with the reason."""
    try:
        if _LOCAL.fullmatch(text) or _DATE.fullmatch(text):
            wall = (datetime.fromisoformat(text) - EPOCH) // timedelta(milliseconds=1)
        else:
            wall = wall_at(zone, _checked(parse_instant(text)))
    except ValueError as error:
        raise BadText(str(error), MOMENTS) from error
    return _checked(wall)


def parse_first(text: str, zone: str) -> Millis:
    """The first instant that is meant; of a date, the beginning of the day. Raises BadText."""
    if _is_instant(text):
        return _instant(text)
    return first_instant_from(zone, parse_wall(text, zone))


def parse_last(text: str, zone: str) -> Millis:
    """The last instant that is meant; of a date, the end of the day. Raises BadText."""
    if _is_instant(text):
        return _instant(text)
    is_day = bool(_DATE.fullmatch(text))
    wall = parse_wall(text, zone) + (DAY - 1 if is_day else 0)
    return max(instants_of(zone, wall), default=first_instant_from(zone, wall) - is_day)


def first_instant_from(zone: str, wall: Millis) -> Millis:
    """The first at which the clock shows this, or, if this is left out, the first after the clocks are changed."""
    found = instants_of(zone, wall)
    return found[0] if found else span_at(zone, wall - offset_at(zone, wall - DAY)).begin


def format_wall(wall: Millis) -> str:
    """As it is parsed: 2027-01-31T09:00:00.000."""
    return (EPOCH + timedelta(milliseconds=wall)).isoformat(timespec="milliseconds")


def _is_instant(text: str) -> bool:
    return not (_LOCAL.fullmatch(text) or _DATE.fullmatch(text))


def _instant(text: str) -> Millis:
    try:
        return _checked(parse_instant(text))
    except ValueError as error:
        raise BadText(str(error), MOMENTS) from error


def _checked(at: Millis) -> Millis:
    if not 0 <= at < LAST_WALL:
        raise BadText("not between the years 1970 and 2199", MOMENTS)
    return at


@frozen(kw_only=True)
class Duration:
    """How far two times lie apart: either on the calendar or exactly."""

    months: int = 0
    days: int = 0
    exact: Millis = 0

    @property
    def is_exact(self) -> bool:
        """The same on every day of the year, and in every zone."""
        return self.exact > 0


def parse_duration(text: str) -> Duration:
    """Of at least a minute. Raises BadText with the reason."""
    match = _DURATION.fullmatch(text)
    if not match and _DURATION.fullmatch(re.sub(r"[0-9]{7,}", "1", text)):
        raise BadText("longer than any rule can be", EXAMPLES)
    if not match:
        raise BadText("not a duration of whole numbers", EXAMPLES)
    years, months, weeks, days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    found = Duration(
        months=12 * years + months,
        days=7 * weeks + days,
        exact=hours * HOUR + minutes * MINUTE + seconds * SECOND,
    )
    if found.exact and (found.months or found.days):
        raise BadText("days have 23 to 25 hours: say either days and longer, or hours and shorter", EXAMPLES)
    if not found.months and not found.days and found.exact < MINUTE:
        raise BadText("shorter than a minute", "PT1M or longer: at most one time a minute, like PT1M")
    return found


@frozen(kw_only=True)
class Interval:
    """The anchor, and every so many milliseconds after it."""

    text: str  # of the rule
    length: Millis
    anchor: Millis

    @property
    def rhythm(self) -> Hashable:
        """As that of a rule. No zone and no text counts, nor which of its times the anchor is."""
        return self.length, self.anchor % self.length

    def first_from(self, instant: Millis) -> Millis:
        """The first time that is not before an instant."""
        return self.anchor + max(0, -(-(instant - self.anchor) // self.length)) * self.length

    def count(self, since: Millis, until: Millis) -> int:
        """Times that are not before the one and before the other."""
        return max(0, (self.first_from(until) - self.first_from(since)) // self.length)


@frozen(kw_only=True)
class Calendar:
    """The anchor, and every so many months and days after it, by the wall clock."""

    text: str  # of the rule
    months: int
    days: int
    anchor: Millis  # a wall time

    @property
    def is_round_the_clock(self) -> bool:
        """A day is not an hour: it has times at a fixed time of the day."""
        return False

    @property
    def rhythm(self) -> Hashable:
        """As that of a rule, by the wall clock. Of months and days together, each anchor has times of its own."""
        if not self.months:
            return 0, self.days, self.anchor % (self.days * DAY)
        if self.days:
            return self.months, self.days, self.anchor
        day, time = divmod(self.anchor, DAY)
        first = EPOCH + timedelta(days=day)
        return self.months, 0, ((first.year * 12 + first.month - 1) % self.months, first.day, time)

    def next(self, wall: Millis) -> Millis | None:
        """The first time that is not before a wall time. None: not before the year 2200."""
        found = self._nth(self._number_from(wall))
        return found if found < LAST_WALL else None

    def count(self, since: Millis, until: Millis) -> int:
        """Times that are not before the one and before the other."""
        return max(0, self._number_from(until) - self._number_from(since))

    def _number_from(self, wall: Millis) -> int:
        """Of the first time that is not before a wall time. It is guessed, and counted up from there.

        The guess is never too high: some months are shorter than as many average ones, but by less than a month.
        """
        average = self.months * 146_097 * DAY // 4_800 + self.days * DAY
        number = max(0, (min(wall, LAST_WALL) - self.anchor) // average)
        while self._nth(number) < min(wall, LAST_WALL):
            number += 1
        return number

    def _nth(self, number: int) -> Millis:
        day, time = divmod(self.anchor, DAY)
        first = EPOCH + timedelta(days=day)
        months = first.year * 12 + first.month - 1 + number * self.months
        year, month = months // 12, months % 12 + 1
        if year >= 2200:
            return LAST_WALL
        date = first.replace(year=year, month=month, day=min(first.day, monthrange(year, month)[1]))
        return ((date - EPOCH).days + number * self.days) * DAY + time
