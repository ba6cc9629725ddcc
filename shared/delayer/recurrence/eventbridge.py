"""The dialect of Amazon EventBridge: `cron(…)` of six fields and `rate(…)`, so that its rules can be moved over.

Source: the user guides of EventBridge and of EventBridge Scheduler, "Schedule types".
"""

import re
from collections.abc import Iterator
from typing import Final

from delayer.recurrence.cron import (
    DAYS,
    DAYS_OF_MONTH,
    HOURS,
    LAST_YEAR,
    MAX_LENGTH,
    MINUTES,
    MONTHS,
    MONTHS_OF_YEAR,
    Cron,
    Field,
    cron_of,
)
from delayer.recurrence.duration import Duration
from delayer.recurrence.terms import BadText
from delayer.schedule.instants import DAY, HOUR, MINUTE

CRON_EXAMPLE: Final = "cron(0 10 ? * MON-FRI *): minute, hour, day of month, month, day of week, year"
RATE_EXAMPLE: Final = "rate(5 minutes), rate(1 hour), rate(7 days)"
YEARS: Final = Field(
    name="year", least=1970, most=LAST_YEAR, allowed="1970 to 2199, *, lists, ranges and steps, like 2027-2029"
)
WEEKDAYS: Final = Field(
    name="day-of-week",
    least=1,
    most=7,
    names=DAYS,
    allowed="1 (SUN) to 7 (SAT), *, ?, lists, ranges, steps, L, nL and n#m, like MON-FRI or 6#2",
)
FIELDS: Final = (MINUTES, HOURS, DAYS_OF_MONTH, MONTHS_OF_YEAR, WEEKDAYS, YEARS)
_CRON = re.compile(r"cron\((.*)\)", re.DOTALL)
_RATE = re.compile(r"rate\(\s*([1-9]\d{0,8})\s+(minute|hour|day)s?\s*\)", re.ASCII)
_UNITS: Final = {"minute": MINUTE, "hour": HOUR, "day": DAY}
_SPECIAL = re.compile(r"([1-7]|SUN|MON|TUE|WED|THU|FRI|SAT)(L|#[1-5])", re.ASCII)
_NAME = re.compile(rf"\b({'|'.join((*DAYS, *MONTHS))})\b", re.ASCII)


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
    """Raises BadText with the reason. A name in another field is read as its number: `check_names` refuses it."""
    minute, hour, days, month, weekdays, years = _parts(text)
    if (days == "?") == (weekdays == "?"):
        raise BadText("one of day of month and day of week has to be ?, and only one", CRON_EXAMPLE)
    return cron_of(
        text,
        [
            _forward(minute, MINUTES),
            _forward(hour, HOURS),
            "*" if days == "?" else days,
            _forward(month, MONTHS_OF_YEAR),
            _weekdays(weekdays),
        ],
        frozenset(() if years == "*" else _years(years)),
    )


def check_names(text: str) -> None:
    """Raises BadText for the name of a day where there is none, or of a month.

    Earlier releases read them as numbers, and series live on with them: only what is new is refused.
    """
    for field, part in zip(FIELDS, _parts(text), strict=True):
        for name in _NAME.findall(part):
            if name not in field.names:
                kind = "day of the week" if name in DAYS else "month"
                raise BadText(f"wrong {field.name}: {part}: {name} is the name of a {kind}", field.allowed)


def _parts(text: str) -> list[str]:
    """The six fields in capital letters. Raises BadText."""
    match = _CRON.fullmatch(text)
    parts = match[1].upper().split() if match and len(text) <= MAX_LENGTH else []
    if len(parts) != 6:
        raise BadText("not six fields in cron(…)", CRON_EXAMPLE)
    return parts


def _weekdays(text: str) -> str:
    """Sunday is 1 there, and 0 in cron."""
    return "*" if text in ("*", "?") else ",".join(_weekday(term) for term in text.split(","))


def _weekday(term: str) -> str:
    if term == "L":
        return "6"  # the last day of the week
    if match := _SPECIAL.fullmatch(term):
        return f"{WEEKDAYS.number(match[1]) - 1}{match[2]}"
    try:
        days = WEEKDAYS.expanded(_by_number(WEEKDAYS, term))
    except ValueError:
        raise BadText(f"wrong day-of-week: {term}", WEEKDAYS.allowed) from None
    is_row = days == [*range(days[0], days[0] + len(days))]
    return f"{days[0] - 1}-{days[-1] - 1}" if is_row else ",".join(str(day - 1) for day in days)


def _forward(text: str, field: Field) -> str:
    """Ranges that pass the end, like the hours 20-2, as lists. What is wrong stays as it is, and is told by cron."""
    return ",".join(_forward_term(term, field) for term in text.split(","))


def _forward_term(term: str, field: Field) -> str:
    read = _by_number(field, term)
    try:
        first, last, _ = field.span(read)
    except ValueError:
        return term
    return read if first <= last else ",".join(map(str, field.expanded(read)))


def _years(text: str) -> Iterator[int]:
    try:
        for term in text.split(","):
            years = YEARS.expanded(term)
            if years != sorted(years):
                raise ValueError(term)
            yield from years
    except ValueError:
        raise BadText(f"wrong year: {text}", YEARS.allowed) from None


def _by_number(field: Field, term: str) -> str:
    """A name in another field than its own is what earlier releases read it as: its number, counted from 1."""
    return _NAME.sub(lambda name: name[0] if name[0] in field.names else _number(name[0]), term)


def _number(name: str) -> str:
    return str((DAYS if name in DAYS else MONTHS).index(name) + 1)
