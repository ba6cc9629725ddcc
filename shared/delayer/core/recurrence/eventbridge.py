"""The dialect of Amazon EventBridge: `cron(…)` of six fields and `rate(…)`, so that its rules can be moved over.

Source: the user guides of EventBridge and of EventBridge Scheduler, "Schedule types".
"""

import re
from collections.abc import Iterator
from typing import Final

from delayer.core.recurrence.bad_rule import BadText
from delayer.core.recurrence.cron import LAST_YEAR, MAX_LENGTH, Cron, cron_of
from delayer.core.recurrence.duration import Duration
from delayer.core.schedule.instants import DAY, HOUR, MINUTE

CRON_EXAMPLE: Final = "cron(0 10 ? * MON-FRI *): minute, hour, day of month, month, day of week, year"
RATE_EXAMPLE: Final = "rate(5 minutes), rate(1 hour), rate(7 days)"
YEARS: Final = "1970 to 2199, *, lists, ranges and steps, like 2027-2029"
WEEKDAYS: Final = "1 (SUN) to 7 (SAT), *, ?, lists, ranges, steps, L, nL and n#m, like MON-FRI or 6#2"
_CRON = re.compile(r"cron\((.*)\)", re.DOTALL)
_RATE = re.compile(r"rate\(\s*([1-9]\d{0,8})\s+(minute|hour|day)s?\s*\)", re.ASCII)
_UNITS: Final = {"minute": MINUTE, "hour": HOUR, "day": DAY}
_DAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
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
        [minute, hour, "*" if days == "?" else days, month, _weekdays(weekdays)],
        frozenset(() if years == "*" else _years(years)),
    )


def _weekdays(text: str) -> str:
    """Sunday is 1 there, and 0 in cron."""
    return "*" if text in ("*", "?") else ",".join(_weekday(term) for term in text.split(","))


def _weekday(term: str) -> str:
    if term == "L":
        return "6"  # the last day of the week
    if match := _SPECIAL.fullmatch(term):
        return f"{_day(match[1]) - 1}{match[2]}"
    try:
        days = _expanded(term, 1, 7)
        return f"{days[0] - 1}-{days[-1] - 1}/{days.step}".removesuffix("/1")
    except ValueError:
        raise BadText(f"wrong day-of-week: {term}", WEEKDAYS) from None


def _day(text: str) -> int:
    return _DAYS.index(text) + 1 if text in _DAYS else int(text)


def _years(text: str) -> Iterator[int]:
    try:
        for term in text.split(","):
            yield from _expanded(term, 1970, LAST_YEAR)
    except ValueError:
        raise BadText(f"wrong year: {text}", YEARS) from None


def _expanded(term: str, least: int, most: int) -> range:
    """One number, or a range with a step. Raises ValueError."""
    match = _TERM.fullmatch(term)
    if not match:
        raise ValueError(term)
    start = least if match[1] == "*" else _day(match[1])
    end = _day(match[2]) if match[2] else most if match[1] == "*" or match[3] else start
    if not least <= start <= end <= most or (match[1] == "*" and match[2]):
        raise ValueError(term)
    return range(start, end + 1, int(match[3] or 1))
