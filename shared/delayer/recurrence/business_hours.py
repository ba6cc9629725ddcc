"""The next instant within business hours, in the time of a zone.

Hours are those of the clock on the wall. On a day on which the clocks are put forward or back, an opening that the
clock never shows is when the clocks have been put forward, and one that it shows twice is the first of the two; a
closing that it shows twice is the second: nobody is sent home for an hour.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from attrs import field, frozen

from delayer.recurrence.zones import ALLOWED, zone_names
from delayer.schedule.instants import Millis

DAYS: Final = ("MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
LONGEST_SEARCH: Final = 400  # days; a calendar that is closed for longer has no next business hour
MINUTES_OF_A_DAY: Final = 24 * 60
_SPAN: Final = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])-(?:([01][0-9]|2[0-3]):([0-5][0-9])|24:00)")


@frozen(kw_only=True)
class Format:
    """One that a field can name."""

    holds: Callable[[str], bool]
    allowed: str  # in words, for the answers of the API


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _is_hours(text: str) -> bool:
    try:
        hours_of(text)
    except ValueError:
        return False
    return True


FORMATS: Final[Mapping[str, Format]] = {
    "date": Format(holds=_is_date, allowed="a date that there is, such as 2026-12-25"),
    "hours": Format(holds=_is_hours, allowed="from-to within a day, such as 09:00-17:30"),
    "time-zone": Format(holds=lambda text: text in zone_names(), allowed=ALLOWED),
}


@frozen(kw_only=True, order=True)
class Hours:
    """From and to which minute of a day it is open; 1,440 is the end of the day."""

    opens: int
    closes: int = field()

    @closes.validator
    def _is_after_the_opening(self, _: object, closes: int) -> None:
        if not 0 <= self.opens < closes <= MINUTES_OF_A_DAY:
            raise ValueError("the closing must be after the opening, on the same day")


def hours_of(text: str) -> Hours:
    """Of `09:00-17:30`. Raises ValueError for anything else."""
    if not (found := _SPAN.fullmatch(text)):
        raise ValueError("not from-to, such as 09:00-17:30")
    hour, minute, to_hour, to_minute = found.groups()
    closes = int(to_hour) * 60 + int(to_minute) if to_hour else MINUTES_OF_A_DAY
    return Hours(opens=int(hour) * 60 + int(minute), closes=closes)


@frozen(kw_only=True)
class BusinessHours:
    """A week, and the days on which it does not hold."""

    zone: ZoneInfo
    week: Mapping[str, Sequence[Hours]]  # by day, as in DAYS; a day that is not there is closed
    holidays: frozenset[date] = frozenset()

    def next_open(self, instant: Millis) -> Millis | None:
        """The instant itself if it is open then, otherwise the next opening; None if there is none in a year."""
        first = _local(instant, self.zone).date() - timedelta(days=1)  # a day of the clock may begin before its date
        for number in range(LONGEST_SEARCH):
            for opens, closes in self._open_on(first + timedelta(days=number)):
                if instant < closes:
                    return max(instant, opens)
        return None

    def _open_on(self, day: date) -> list[tuple[Millis, Millis]]:
        if day in self.holidays:
            return []
        hours = sorted(self.week.get(DAYS[day.weekday()], ()))
        spans = [(self._instant(day, one.opens, fold=0), self._instant(day, one.closes, fold=1)) for one in hours]
        return [(opens, closes) for opens, closes in spans if opens < closes]

    def _instant(self, day: date, minute: int, fold: int) -> Millis:
        """When the clock shows it. What it never shows is when it jumps."""
        wall = datetime.combine(day, time()) + timedelta(minutes=minute)
        early, late = (wall.replace(tzinfo=self.zone, fold=one).astimezone(UTC) for one in (0, 1))
        if early <= late:  # shown once, or twice
            return _millis(late if fold else early)
        return _millis(_jump(late, early, self.zone))


def _jump(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """When the clocks are put forward, between two instants: to the second, by halves."""
    offset = before.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = before + (after - before) // 2
        middle = middle.replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == offset:
            before = middle
        else:
            after = middle
    return after


def _local(instant: Millis, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(instant / 1000, UTC).astimezone(zone)


def _millis(moment: datetime) -> Millis:
    return round(moment.timestamp() * 1000)
