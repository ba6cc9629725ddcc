"""Five fields of cron on the calendar of the wall clock. `cronsim` reads them and says which day matches.

What Debian's cron does not know is done here: `15W`, the weekday nearest to the 15th of the same month, and years.
"""

import re
from bisect import bisect_left
from calendar import monthrange
from collections.abc import Hashable, Iterator
from contextlib import suppress
from datetime import date
from functools import lru_cache
from typing import Final

from attrs import evolve, frozen
from cronsim import CronSim, CronSimError

from delayer.recurrence.terms import BadText
from delayer.recurrence.zones import EPOCH
from delayer.schedule.instants import DAY, MINUTE, Millis

LAST_YEAR: Final = 2199  # as of EventBridge
MAX_LENGTH: Final = 256  # characters
EXAMPLE: Final = '"0 9 * * MON-FRI": minute, hour, day of month, month, day of week'
DAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
NICKNAMES: Final = {
    "@HOURLY": "0 * * * *",
    "@DAILY": "0 0 * * *",
    "@MIDNIGHT": "0 0 * * *",
    "@WEEKLY": "0 0 * * 0",
    "@MONTHLY": "0 0 1 * *",
    "@YEARLY": "0 0 1 1 *",
    "@ANNUALLY": "0 0 1 1 *",
}
_NEAREST = re.compile(r"([1-9]|[12]\d|3[01])W", re.ASCII)
_LAST_NAMED = re.compile(rf"({'|'.join(DAYS)})L", re.ASCII)
_TERM = re.compile(r"(\*|[0-9A-Z]+)(?:-([0-9A-Z]+))?(?:/(\d+))?", re.ASCII)
_STEPPED = re.compile(r"-\w+/")
_ALL_YEARS: Final = frozenset(range(1970, LAST_YEAR + 1))
_NO_DAY = "1"  # stands where a day of the month is needed, and is not asked


@frozen(kw_only=True)
class Field:
    """The numbers that one of the fields of cron has, and their names."""

    name: str  # as cronsim calls it
    least: int
    most: int
    names: tuple[str, ...] = ()  # the first is that of `least`
    allowed: str  # in words

    def number(self, text: str) -> int:
        """By its name, or as it is. Raises ValueError."""
        found = self.least + self.names.index(text) if text in self.names else int(text)
        if not self.least <= found <= self.most:
            raise ValueError(text)
        return found

    def span(self, term: str) -> tuple[int, int, int]:
        """The first and the last number of a range, and its step. Raises ValueError."""
        match = _TERM.fullmatch(term)
        if not match or (match[1] == "*" and match[2]) or match[3] == "0":
            raise ValueError(term)
        first = self.least if match[1] == "*" else self.number(match[1])
        last = self.number(match[2]) if match[2] else self.most if match[1] == "*" or match[3] else first
        return first, last, int(match[3] or 1)

    def expanded(self, term: str) -> list[int]:
        """All of them; a range may pass the end and begin again. Raises ValueError."""
        first, last, step = self.span(term)
        numbers = [*range(first, last + 1)] or [*range(first, self.most + 1), *range(self.least, last + 1)]
        return numbers[::step]


MINUTES: Final = Field(
    name="minute", least=0, most=59, allowed="0 to 59, *, lists, ranges and steps, like */15 or 0,30"
)
HOURS: Final = Field(name="hour", least=0, most=23, allowed="0 to 23, *, lists, ranges and steps, like 9-17 or */6")
DAYS_OF_MONTH: Final = Field(
    name="day-of-month",
    least=1,
    most=31,
    allowed="1 to 31, *, lists, ranges, steps, L, LW and nW, like 1,15 or L or 15W",
)
MONTHS_OF_YEAR: Final = Field(
    name="month",
    least=1,
    most=12,
    names=MONTHS,
    allowed="1 to 12 or JAN to DEC, *, lists, ranges and steps, like JAN-MAR or */3",
)
DAYS_OF_WEEK: Final = Field(
    name="day-of-week",
    least=0,
    most=7,
    names=(*DAYS, "SUN"),
    allowed="0 to 7 or SUN to SAT, *, lists, ranges, steps, nL and n#m, like MON-FRI or FRI#2 or 5L",
)
FIELDS: Final = (MINUTES, HOURS, DAYS_OF_MONTH, MONTHS_OF_YEAR, DAYS_OF_WEEK)


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
        """As that of a rule, by the wall clock. It is made of what fires: two texts may say the same."""
        years = frozenset() if self.years >= _ALL_YEARS else self.years
        return _minutes(self.fields), _days(self), years

    @property
    def needs_both(self) -> bool:
        """Whether a day has to match as one of the month and as one of the week. Else one of them is enough."""
        return _simulator(self.fields).day_and

    @property
    def days_that_count(self) -> tuple[str | None, str]:
        """The fields of the day of the month and of the week; a star for what any day matches.

        None for a day of the month that cronsim does not know: the nearest weekday.
        """
        simulator, (_, _, days, _, weekdays) = _simulator(self.fields), self.fields.split()
        any_day = self.has_days and simulator.days >= {*range(1, 32)}
        any_weekday = {one % 7 for one in simulator.weekdays if isinstance(one, int)} == {*range(7)}
        if any_weekday and not self.needs_both:
            any_day = True
        found = "*" if any_day else None if self.nearest else days
        return found, "*" if any_weekday or (any_day and not self.needs_both) else weekdays

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
                if self.matches(at):
                    yield day - EPOCH.toordinal()
                day += 1

    def matches(self, day: date) -> bool:
        """Whether a day is one of its days, in whichever month."""
        simulator = _simulator(self.fields)
        in_month = self.has_days and simulator.match_dom(day)
        in_month = in_month or any(_nearest_weekday(day.year, day.month, one) == day.day for one in self.nearest)
        if simulator.day_and:
            return in_month and simulator.match_dow(day)
        return in_month or simulator.match_dow(day)


def parse_cron(text: str) -> Cron:
    """Raises BadText with the reason."""
    if len(text) > MAX_LENGTH:
        raise BadText(f"longer than {MAX_LENGTH} characters", EXAMPLE)
    if text.lstrip().startswith("@"):
        text = _fields_of(text.strip())
    parts = text.upper().split()
    if len(parts) != 5:
        raise BadText(f"not five fields, but {len(parts)}", EXAMPLE)
    found = cron_of(text, parts)
    return evolve(found, text=_for_the_release_before(found)) if _STEPPED.search(parts[4]) else found


def _for_the_release_before(cron: Cron) -> str:
    """It refuses `1-5/2` as days of the week, and may read what is stored: after a rollback, or during a deployment."""
    text = " ".join([*cron.text.upper().split()[:4], cron.fields.split()[4]])
    return text if len(text) <= MAX_LENGTH else cron.text


def _fields_of(nickname: str) -> str:
    """Writes out a nickname. It is stored like this: a version that knows no nicknames reads it, too."""
    name = nickname.split()[0].upper()
    if name == nickname.upper() and name in NICKNAMES:
        return NICKNAMES[name]
    if name == "@REBOOT":
        raise BadText("@reboot is no time of the clock", "POST /schedules with `delaySeconds` 0, after each start")
    if name == "@EVERY":
        raise BadText("@every is written with the field `every`", '"every": "PT1H30M" in place of "@every 1h30m"')
    raise BadText("no nickname of cron", f"{', '.join(NICKNAMES).lower()}, or five fields, like {EXAMPLE}")


def cron_of(text: str, parts: list[str], years: frozenset[int] = frozenset()) -> Cron:
    """From five fields in capital letters. Raises BadText with the reason."""
    minute, hour, days, month, weekdays = map(_read, FIELDS, parts)
    terms = days.split(",")
    plain = [term for term in terms if not _NEAREST.fullmatch(term)]
    fields = " ".join([minute, hour, ",".join(plain) or _NO_DAY, month, weekdays])
    _check(fields, parts)
    nearest = frozenset(int(term[:-1]) for term in terms if _NEAREST.fullmatch(term))
    return Cron(text=text, fields=fields, nearest=nearest, years=years, has_days=bool(plain))


def _read(field: Field, part: str) -> str:
    """A field as cronsim reads it right. What is wrong stays as it is."""
    terms = ",".join(_read_term(field, term) for term in part.split(",")).split(",")
    first_of: dict[int | str, str] = {}
    for one in terms:
        first_of.setdefault(_value(field, one), one)
    return ",".join(first_of.values())


def _value(field: Field, term: str) -> int | str:
    """Of one number, what it stands for: Sunday is 0 and 7. All else is itself."""
    try:
        return field.number(term) % 7 if field is DAYS_OF_WEEK else field.number(term)
    except ValueError:
        return term


def _read_term(field: Field, term: str) -> str:
    """To cronsim a range of one value with a step goes on to the end, and Sunday is there twice, as 0 and as 7."""
    begin, dash, end = term.partition("/")[0].partition("-")
    try:
        if "/" in term and dash and field.number(begin) == field.number(end):
            return str(field.span(term)[0])
        if "/" in term and field is DAYS_OF_WEEK and begin != "*":
            row = term if end or begin == "7" else f"{begin}-6/{term.partition('/')[2]}"
            first, last, step = field.span(row)
            return ",".join(map(str, range(first, last + 1, step))) or term
        if field is DAYS_OF_WEEK and _LAST_NAMED.fullmatch(term):
            return f"{field.number(term[:3])}L"
    except ValueError:
        pass
    return term


def _check(fields: str, parts: list[str]) -> None:
    """Raises BadText with the field that cannot be read."""
    try:
        _simulator(fields)
    except CronSimError as error:
        name = str(error).removeprefix("Bad ")
        field = next(one for one in FIELDS if one.name == name)
        part = parts[FIELDS.index(field)]
        if field is DAYS_OF_MONTH and parts[3] != "*":
            minute, hour, days, _, weekdays = fields.split()
            _check(" ".join([minute, hour, days, "*", weekdays]), [*parts[:3], "*", *parts[4:]])
            problem = f"empty: there is no day {part} in month {parts[3]}"
            raise BadText(problem, 'a day that exists, like "0 9 28 2 *"') from error
        raise _wrong(field, part) from error


def _wrong(field: Field, part: str) -> BadText:
    """Of a range that goes backwards, it is said what it would be."""
    week = evolve(field, most=6) if field is DAYS_OF_WEEK else field
    for term in part.split(","):
        with suppress(ValueError):
            first, last, _ = week.span(term)
            if first > last:
                [most] = _shown(week, [week.most])
                problem = f"wrong {field.name}: the range {term} goes backwards; none goes beyond {most}"
                return BadText(problem, f"each of them: {','.join(_shown(week, week.expanded(term)))}")
    return BadText(f"wrong {field.name}: {part}", field.allowed)


def _shown(field: Field, numbers: list[int]) -> list[str]:
    return [field.names[one - field.least] if field.names else str(one) for one in numbers]


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


@lru_cache(maxsize=256)
def _days(cron: Cron) -> bytes:
    """For each day of every kind of month, whether it matches, in whichever years."""
    months = _simulator(cron.fields).months
    return bytes(day.month in months and cron.matches(day) for day in _kinds_of_months())


@lru_cache(maxsize=1)
def _kinds_of_months() -> tuple[date, ...]:
    """Whether a day matches depends on its month, and on the month's length and first weekday: 28 years have all."""
    kinds = {(month, monthrange(year, month)): year for year in range(2001, 2029) for month in range(1, 13)}
    return tuple(date(year, month, day) for (month, (_, length)), year in kinds.items() for day in range(1, length + 1))
