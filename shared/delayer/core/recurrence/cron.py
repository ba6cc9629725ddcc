"""Five fields of cron on the calendar of the wall clock. `cronsim` reads them and says which day matches.

What Debian's cron does not know is done here: `15W`, the weekday nearest to the 15th of the same month, and years.
"""

import re
from bisect import bisect_left
from calendar import monthrange
from collections.abc import Hashable, Iterator
from datetime import date
from functools import lru_cache
from typing import Final

from attrs import frozen
from cronsim import CronSim, CronSimError

from delayer.core.recurrence.terms import BadText
from delayer.core.recurrence.zones import EPOCH
from delayer.core.schedule.instants import DAY, MINUTE, Millis

LAST_YEAR: Final = 2199  # as of EventBridge
MAX_LENGTH: Final = 256  # characters
EXAMPLE: Final = '"0 9 * * MON-FRI": minute, hour, day of month, month, day of week'
IN_FIELDS: Final = {
    "minute": "0 to 59, *, lists, ranges and steps, like */15 or 0,30",
    "hour": "0 to 23, *, lists, ranges and steps, like 9-17 or */6",
    "day-of-month": "1 to 31, *, lists, ranges, steps, L, LW and nW, like 1,15 or L or 15W",
    "month": "1 to 12 or JAN to DEC, *, lists, ranges and steps, like JAN-MAR or */3",
    "day-of-week": "0 to 7 or SUN to SAT, *, lists, ranges, steps, nL and n#m, like MON-FRI or FRI#2 or 5L",
}
_DAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_NEAREST = re.compile(r"([1-9]|[12]\d|3[01])W", re.ASCII)
_LAST_NAMED = re.compile(rf"({'|'.join(_DAYS)})L", re.ASCII)
_FROM_DAY = re.compile(rf"([0-6]|{'|'.join(_DAYS)})/(\d+)", re.ASCII)
_NO_DAY = "1"  # stands where a day of the month is needed, and is not asked


@frozen(kw_only=True)
class Cron:
    """Wall times by their minute, hour, day, month, and weekday."""

    text: str  # of the rule
    fields: str  # as cronsim reads them
    nearest: frozenset[int] = frozenset()  # days of the month whose nearest weekday matches
    years: frozenset[int] = frozenset()  # empty: all
    has_days: bool = True  # whether the day of the month that cronsim reads counts

    @property
    def is_round_the_clock(self) -> bool:
        """Whether it has times in every hour: it follows the clock then, however that is changed."""
        return len(_simulator(self.fields).hours) == 24

    @property
    def rhythm(self) -> Hashable:
        """As that of a rule, by the wall clock: two texts may say the same."""
        return self.fields, self.nearest, self.years, self.has_days

    def next(self, wall: Millis) -> Millis | None:
        """The first time that is not before a wall time. None: not before the year 2200."""
        first, minute = divmod(-(-wall // MINUTE), DAY // MINUTE)
        minutes = _minutes(self.fields)
        for day in self._days_from(first):
            place = bisect_left(minutes, minute) if day == first else 0
            if place < len(minutes):
                return day * DAY + minutes[place] * MINUTE
        return None

    def count(self, since: Millis, until: Millis) -> int:
        """Times that are not before the one and before the other."""
        minutes = _minutes(self.fields)
        first, from_minute = divmod(-(-since // MINUTE), DAY // MINUTE)
        last, to_minute = divmod(-(-until // MINUTE), DAY // MINUTE)
        counted = 0
        for day in self._days_from(first):
            if day > last:
                break
            begin = bisect_left(minutes, from_minute) if day == first else 0
            end = bisect_left(minutes, to_minute) if day == last else len(minutes)
            counted += max(0, end - begin)
        return counted

    def _days_from(self, number: int) -> Iterator[int]:
        """Days that match, counted from 1970-01-01."""
        day, last = number + EPOCH.toordinal(), date(LAST_YEAR, 12, 31).toordinal()
        months = _simulator(self.fields).months
        while day <= last:
            at = date.fromordinal(day)
            if self.years and at.year not in self.years:
                day = date(at.year + 1, 1, 1).toordinal()
            elif at.month not in months:
                day += monthrange(at.year, at.month)[1] - at.day + 1
            else:
                if self._matches(at):
                    yield day - EPOCH.toordinal()
                day += 1

    def _matches(self, day: date) -> bool:
        simulator = _simulator(self.fields)
        in_month = self.has_days and simulator.match_dom(day)
        in_month = in_month or any(_nearest_weekday(day.year, day.month, one) == day.day for one in self.nearest)
        if simulator.day_and:
            return in_month and simulator.match_dow(day)
        return in_month or simulator.match_dow(day)


def parse_cron(text: str) -> Cron:
    """Raises BadText with the reason."""
    parts = text.upper().split()
    if len(text) > MAX_LENGTH:
        raise BadText(f"longer than {MAX_LENGTH} characters", EXAMPLE)
    if len(parts) != 5:
        raise BadText(f"not five fields, but {len(parts)}", EXAMPLE)
    return cron_of(text, parts)


def cron_of(text: str, parts: list[str], years: frozenset[int] = frozenset()) -> Cron:
    """From five fields in capital letters. Raises BadText with the reason."""
    minute, hour, days, month, weekdays = parts
    terms = days.split(",")
    plain = [term for term in terms if not _NEAREST.fullmatch(term)]
    weekdays = ",".join(_weekday_term(term) for term in weekdays.split(","))
    fields = " ".join([minute, hour, ",".join(plain) or _NO_DAY, month, weekdays])
    _check(fields, parts)
    nearest = frozenset(int(term[:-1]) for term in terms if _NEAREST.fullmatch(term))
    return Cron(text=text, fields=fields, nearest=nearest, years=years, has_days=bool(plain))


def _check(fields: str, parts: list[str]) -> None:
    """Raises BadText with the field that cannot be read."""
    try:
        _simulator(fields)
    except CronSimError as error:
        name = str(error).removeprefix("Bad ")
        part = parts[list(IN_FIELDS).index(name)]
        if name == "day-of-month" and parts[3] != "*":
            minute, hour, days, _, weekdays = fields.split()
            _check(" ".join([minute, hour, days, "*", weekdays]), [*parts[:3], "*", *parts[4:]])
            problem = f"empty: there is no day {part} in month {parts[3]}"
            raise BadText(problem, 'a day that exists, like "0 9 28 2 *"') from error
        raise BadText(f"wrong {name}: {part}", IN_FIELDS[name]) from error


def _weekday_term(term: str) -> str:
    """As cronsim reads it: `FRIL` is `5L`; `MON/2` ends with Saturday, since Sunday would be there twice."""
    if _LAST_NAMED.fullmatch(term):
        return f"{_DAYS.index(term[:3])}L"
    return _FROM_DAY.sub(r"\1-6/\2", term)


def _nearest_weekday(year: int, month: int, day: int) -> int | None:
    """Monday to Friday, within the month. None if the month has no such day."""
    first, length = monthrange(year, month)
    if day > length:
        return None
    match (first + day - 1) % 7:
        case 5:
            return day - 1 if day > 1 else day + 2
        case 6:
            return day + 1 if day < length else day - 2
    return day


@lru_cache(maxsize=1024)
def _simulator(fields: str) -> CronSim:
    return CronSim(fields, EPOCH)


@lru_cache(maxsize=1024)
def _minutes(fields: str) -> tuple[int, ...]:
    """Of the day, in order."""
    simulator = _simulator(fields)
    return tuple(60 * hour + minute for hour in sorted(simulator.hours) for minute in sorted(simulator.minutes))
