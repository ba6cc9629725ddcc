"""How near to each other two times of a rule can be: Delayer wants a window that is shorter.

Days, months and years of a cron expression are passed over, which can only make the answer too small.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

from delayer_client.eventbridge.mapping.expressions import seconds_of

DAY: Final = 1_440  # minutes
YEARS_LOOKED_AT: Final = 40
_TERM = re.compile(r"(\*|\d{1,2})(?:-(\d{1,2}))?(?:/(\d{1,2}))?", re.ASCII)


def least_seconds(expression: str, zone: str, now: datetime) -> int:
    """Between two times of a rule, at least."""
    if exact := seconds_of(expression):
        return exact
    minutes, hours = expression[len("cron(") :].split()[:2]
    times = sorted(hour * 60 + minute for hour in _numbers(hours, 23) for minute in _numbers(minutes, 59))
    if not times:
        return 60
    gaps = [after - before for before, after in pairwise([*times, times[0] + DAY])]
    changed = [_over(times, at, shift) for at, shift in changes_of(zone, now.year)]
    return max(min([*gaps, *changed]), 1) * 60


@lru_cache(maxsize=64)
def changes_of(zone: str, year: int) -> frozenset[tuple[int, int]]:
    """Minutes of the day at which the clocks are changed, as they show it before, and by how many minutes they are."""
    where, found = ZoneInfo(zone), set()
    day = datetime(year, 1, 1, tzinfo=UTC)
    for before, after in pairwise(day + timedelta(days=number) for number in range(366 * YEARS_LOOKED_AT)):
        if _offset(where, before) != _offset(where, after):
            found.add(_change(where, before, after))
    return frozenset(found)


def _change(where: ZoneInfo, before: datetime, after: datetime) -> tuple[int, int]:
    old = _offset(where, before)
    while after - before > timedelta(minutes=1):
        middle = before + timedelta(minutes=(after - before) // timedelta(minutes=2))
        before, after = (middle, after) if _offset(where, middle) == old else (before, middle)
    wall = (after.hour * 60 + after.minute + old) % DAY
    return wall, _offset(where, after) - old


def _offset(where: ZoneInfo, instant: datetime) -> int:
    return int((instant.astimezone(where).utcoffset() or timedelta()).total_seconds()) // 60


def _over(times: list[int], at: int, shift: int) -> int:
    """The real minutes from the last time before a change to the first after it."""
    near = [one + days * DAY for one in times for days in (-1, 0, 1, 2)]
    return min(one for one in near if one >= at + shift) - max(one for one in near if one < at) - shift


def _numbers(field: str, most: int) -> list[int]:
    """Of a field of minutes or hours. What is not understood counts as every minute, or every hour."""
    found: set[int] = set()
    for term in field.split(","):
        match = _TERM.fullmatch(term)
        if not match:
            return [*range(most + 1)]
        start = 0 if match[1] == "*" else int(match[1])
        end = int(match[2]) if match[2] else most if match[1] == "*" or match[3] else start
        row = [*range(start, end + 1)] or [*range(start, most + 1), *range(end + 1)]
        found.update(row[:: max(int(match[3] or 1), 1)])
    return sorted(one for one in found if one <= most)
