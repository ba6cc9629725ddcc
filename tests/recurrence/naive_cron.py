"""A second implementation of cron: minute by minute, field by field, straight from crontab(5) and EventBridge's guide.

It shares no code with the first, knows no zones, and is slow.
"""

from calendar import monthrange
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Final

from attrs import frozen

DAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
NICKNAMES: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}


@frozen
class Dialect:
    """The numbers of the five fields, of the sixth if there is one, and the number of the first weekday."""

    fields: tuple[tuple[int, int, tuple[str, ...]], ...]  # least, most, and names, the first of which is `least`
    sunday: int
    passes_the_end: bool  # whether 20-2 is 20, 21, 22, 23, 0, 1, 2


DEBIAN: Final = Dialect(
    fields=((0, 59, ()), (0, 23, ()), (1, 31, ()), (1, 12, MONTHS), (0, 7, (*DAYS, "SUN"))),
    sunday=0,
    passes_the_end=False,
)
EVENTBRIDGE: Final = Dialect(
    fields=((0, 59, ()), (0, 23, ()), (1, 31, ()), (1, 12, MONTHS), (1, 7, DAYS), (1970, 2199, ())),
    sunday=1,
    passes_the_end=True,
)


class Wrong(ValueError):
    """No such rule."""


def fires(rule: str, first: datetime, minutes: int) -> Iterator[datetime]:
    """Which of so many minutes are times of the rule."""
    for number in range(minutes):
        at = first + timedelta(minutes=number)
        if is_time(rule, at):
            yield at


def is_time(rule: str, at: datetime) -> bool:
    """Whether the rule has a time in this minute. Raises Wrong."""
    dialect = EVENTBRIDGE if rule.startswith("cron(") else DEBIAN
    fields = (rule[5:-1] if rule.startswith("cron(") else NICKNAMES.get(rule, rule)).split()
    minute, hour, day, month, weekday, *year = fields
    return (
        _holds(dialect, 0, minute, at.minute)
        and _holds(dialect, 1, hour, at.hour)
        and _holds(dialect, 3, month, at.month)
        and (not year or _holds(dialect, 5, year[0], at.year))
        and _is_day(dialect, day, weekday, at)
    )


def _is_day(dialect: Dialect, day: str, weekday: str, at: datetime) -> bool:
    """Either of the two is enough, unless one begins with a star."""
    in_month = any(_is_day_of_month(dialect, term, at) for term in day.split(","))
    in_week = any(_is_day_of_week(dialect, term, at) for term in weekday.split(","))
    return (in_month and in_week) if day[0] in "*?" or weekday[0] in "*?" else (in_month or in_week)


def _is_day_of_month(dialect: Dialect, term: str, at: datetime) -> bool:
    length = monthrange(at.year, at.month)[1]
    if term in ("?", "L"):
        return at.day == {"?": at.day, "L": length}[term]
    if term[-1] == "W":
        wanted = length if term == "LW" else int(term[:-1])
        weekdays = [day for day in range(1, length + 1) if at.replace(day=day).weekday() < 5]
        nearest = weekdays[-1] if term == "LW" else min(weekdays, key=lambda day: abs(day - wanted))
        return wanted <= length and at.day == nearest
    return at.day in _numbers(dialect, 2, term)


def _is_day_of_week(dialect: Dialect, term: str, at: datetime) -> bool:
    names = {at.isoweekday() % 7 + dialect.sunday}
    if dialect is DEBIAN and names == {0}:
        names = {0, 7}
    if term == "?":
        return True
    if term == "L":
        return at.isoweekday() == 6
    if term[-1] == "L":
        return _number(dialect, 4, term[:-1]) in names and (at + timedelta(days=7)).month != at.month
    if "#" in term:
        day, nth = term.split("#")
        return _number(dialect, 4, day) in names and (at.day + 6) // 7 == int(nth)
    return bool(names & {*_numbers(dialect, 4, term)})


def _holds(dialect: Dialect, place: int, field: str, value: int) -> bool:
    return any(value in _numbers(dialect, place, term) for term in field.split(","))


def _numbers(dialect: Dialect, place: int, term: str) -> list[int]:
    least, most, _ = dialect.fields[place]
    if place == 4 and dialect is DEBIAN and "-" not in term and term != "7" and not term.startswith("7/"):
        most = 6  # what goes to the end of the week ends with Saturday: Sunday has been there
    row, _, step = term.partition("/")
    if row == "*":
        first, last = least, most
    elif "-" in row:
        first, last = (_number(dialect, place, one) for one in row.split("-"))
    else:
        first = _number(dialect, place, row)
        last = most if step else first
    if first <= last:
        numbers = list(range(first, last + 1))
    elif dialect.passes_the_end:
        numbers = [*range(first, most + 1), *range(least, last + 1)]
    else:
        raise Wrong(term)
    return numbers[:: int(step or 1)]


def _number(dialect: Dialect, place: int, text: str) -> int:
    least, most, names = dialect.fields[place]
    found = least + names.index(text) if text in names else int(text)
    if not least <= found <= most:
        raise Wrong(text)
    return found
