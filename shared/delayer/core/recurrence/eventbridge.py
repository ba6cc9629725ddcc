"""The dialect of Amazon EventBridge: `cron(…)` of six fields and `rate(…)`, so that its rules can be moved over.

Source: the user guides of EventBridge and of EventBridge Scheduler, "Schedule types".
"""

import re
from collections.abc import Iterator
from typing import Final

from delayer.core.recurrence.cron import LAST_YEAR, MAX_LENGTH, Cron, cron_of
from delayer.core.recurrence.duration import Duration
from delayer.core.recurrence.terms import BadText
from delayer.core.schedule.instants import DAY, HOUR, MINUTE

CRON_EXAMPLE: Final = "cron(0 10 ? * MON-FRI *): minute, hour, day of month, month, day of week, year"
RATE_EXAMPLE: Final = "rate(5 minutes), rate(1 hour), rate(7 days)"
YEARS: Final = "1970 to 2199, *, lists, ranges and steps, like 2027-2029"
WEEKDAYS: Final = "1 (SUN) to 7 (SAT), *, ?, lists, ranges, steps, L, nL and n#m, like MON-FRI or 6#2"
_CRON = re.compile(r"cron\((.*)\)", re.DOTALL)
_RATE = re.compile(r"rate\(\s*([1-9]\d{0,8})\s+(minute|hour|day)s?\s*\)", re.ASCII)
_UNITS: Final = {"minute": MINUTE, "hour": HOUR, "day": DAY}
_DAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_SPECIAL = re.compile(r"([1-7]|SUN|MON|TUE|WED|THU|FRI|SAT)(L|#[1-5])", re.ASCII)
_TERM = re.compile(r"(\*|[0-9A-Z]+)(?:-([0-9A-Z]+))?(?:/(\d+))?", re.ASCII)


def is_foreign(text: str) -> bool:
    """Whether it is written in this dialect."""
    return text.startswith(("cron(", "rate("))


def parse_rate(text: str) -> Duration:
    """A day is 24 hours. Raises BadText with the reason."""
    match = _RATE.fullmatch(text)
    if not match:
        raise BadText("not a rate of EventBridge", RATE_EXAMPLE)
    return Duration(exact=int(match[1]) * _UNITS[match[2]])


def parse_foreign_cron(text: str) -> Cron:
    """Raises BadText with the reason."""
    match = _CRON.fullmatch(text)
    parts = match[1].upper().split() if match and len(text) <= MAX_LENGTH else []
    if len(parts) != 6:
        raise BadText("not six fields in cron(…)", CRON_EXAMPLE)
    minute, hour, days, month, weekdays, years = parts
    if (days == "?") == (weekdays == "?"):
        raise BadText("one of day of month and day of week has to be ?, and only one", CRON_EXAMPLE)
    return cron_of(
        text,
        [
            _forward(minute, 0, 59),
            _forward(hour, 0, 23),
            "*" if days == "?" else days,
            _forward(month, 1, 12),
            _weekdays(weekdays),
        ],
        frozenset(() if years == "*" else _years(years)),
    )


def _weekdays(text: str) -> str:
    """Sunday is 1 there, and 0 in cron."""
    return "*" if text in ("*", "?") else ",".join(_weekday(term) for term in text.split(","))


def _weekday(term: str) -> str:
    if term == "L":
        return "6"  # the last day of the week
    if match := _SPECIAL.fullmatch(term):
        return f"{_number(match[1]) - 1}{match[2]}"
    try:
        days = _expanded(term, 1, 7)
    except ValueError:
        raise BadText(f"wrong day-of-week: {term}", WEEKDAYS) from None
    is_row = days == [*range(days[0], days[0] + len(days))]
    return f"{days[0] - 1}-{days[-1] - 1}" if is_row else ",".join(str(day - 1) for day in days)


def _forward(text: str, least: int, most: int) -> str:
    """Ranges that pass the end, like the hours 20-2, as lists. What is wrong stays as it is, and is told by cron."""
    return ",".join(_forward_term(term, least, most) for term in text.split(","))


def _forward_term(term: str, least: int, most: int) -> str:
    try:
        numbers = _expanded(term, least, most)
    except ValueError:
        return term
    return term if numbers == sorted(numbers) else ",".join(map(str, numbers))


def _years(text: str) -> Iterator[int]:
    try:
        for term in text.split(","):
            years = _expanded(term, 1970, LAST_YEAR)
            if years != sorted(years):
                raise ValueError(term)
            yield from years
    except ValueError:
        raise BadText(f"wrong year: {text}", YEARS) from None


def _number(text: str) -> int:
    """Of a weekday or a month by its name, or as it is. Raises ValueError."""
    for names in (_DAYS, _MONTHS):
        if text in names:
            return names.index(text) + 1
    return int(text)


def _expanded(term: str, least: int, most: int) -> list[int]:
    """One number, or a range with a step; it may pass the end and begin again. Raises ValueError."""
    match = _TERM.fullmatch(term)
    if not match or (match[1] == "*" and match[2]):
        raise ValueError(term)
    start = least if match[1] == "*" else _number(match[1])
    end = _number(match[2]) if match[2] else most if match[1] == "*" or match[3] else start
    if not (least <= start <= most and least <= end <= most):
        raise ValueError(term)
    numbers = [*range(start, end + 1)] or [*range(start, most + 1), *range(least, end + 1)]
    return numbers[:: int(match[3] or 1)]
