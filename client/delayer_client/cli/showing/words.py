"""Times in words: `in 3 min`, `tomorrow 09:00 Lisbon`, `13 ms late`."""

from datetime import datetime, timedelta, tzinfo
from typing import Final

from delayer_client.cli.reading.zones import city_of

# From so many seconds on a length is counted in this unit.
UNITS: Final = (
    (2 * 365 * 86_400, 365 * 86_400, "years"),
    (2 * 86_400, 86_400, "days"),
    (5400, 3600, "h"),
    (90, 60, "min"),
)


def length(span: timedelta) -> str:
    """In one unit: 3 min."""
    seconds = abs(span.total_seconds())
    for least, unit, word in UNITS:
        if seconds >= least:
            return f"{seconds / unit:.0f} {word}"
    return f"{seconds:.0f} s"


def relative(at: datetime, now: datetime) -> str:
    """`in 3 min`, `2 h ago`, `now`."""
    span = at - now
    if abs(span) < timedelta(seconds=1):
        return "now"
    return f"in {length(span)}" if span > timedelta(0) else f"{length(span)} ago"


def day(at: datetime, now: datetime) -> str:
    """`tomorrow`, `Thu 24 Dec`; of another year with that."""
    ahead = (at.date() - now.date()).days
    if ahead in (-1, 0, 1):
        return ("yesterday", "today", "tomorrow")[ahead + 1]
    return f"{at:%a} {at.day} {at:%b}" + (f" {at.year}" if at.year != now.year else "")


def absolute(at: datetime, now: datetime, there: tzinfo) -> str:
    """By the clock of a zone: `tomorrow 09:00 Lisbon`."""
    local, today = at.astimezone(there), now.astimezone(there)
    clock = f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"
    return f"{day(local, today)} {clock} {city_of(there)}"


def lateness(millis: int | None) -> str:
    """`13 ms`, `2.4 s`, `3 min`."""
    if millis is None:
        return ""
    if millis < 1000:
        return f"{millis} ms"
    return f"{millis / 1000:.1f} s" if millis < 90_000 else length(timedelta(milliseconds=millis))


def number(count: int, one: str, many: str = "") -> str:
    """`1 schedule`, `2 schedules`, `1,000 schedules`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
