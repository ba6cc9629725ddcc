"""Instants are whole milliseconds since the epoch, UTC; minutes are whole minutes since the epoch.

Input finer than a millisecond rounds *up*: rounding down would let a schedule fire early.
"""

import re
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Final, TypeAlias

Millis: TypeAlias = int
Minute: TypeAlias = int

SECOND: Final[Millis] = 1_000
MINUTE: Final[Millis] = 60 * SECOND
HOUR: Final[Millis] = 60 * MINUTE
DAY: Final[Millis] = 24 * HOUR
YEAR: Final[Millis] = 365 * DAY + 6 * HOUR

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RFC_3339 = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def minute_of(instant: Millis) -> Minute:
    """The minute an instant falls in."""
    return instant // MINUTE


def start_of(minute: Minute) -> Millis:
    """The first millisecond of a minute."""
    return minute * MINUTE


def format_instant(instant: Millis) -> str:
    """RFC 3339 in UTC with milliseconds: `2026-11-21T09:00:00.250Z`."""
    at = _EPOCH + timedelta(milliseconds=instant)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{instant % SECOND:03}Z"


def format_minute(minute: Minute) -> str:
    """A minute as people read it in a table: `2026-11-21T09:00`."""
    return (_EPOCH + timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M")


def parse_instant(text: str) -> Millis:
    """RFC 3339 with an offset, rounded up to the millisecond. Raises ValueError with the reason."""
    match = _RFC_3339.fullmatch(text)
    if not match:
        raise ValueError("not an RFC 3339 date-time with an offset, like 2026-11-21T09:00:00.250Z")
    date, time, fraction, offset = match.groups()
    offset = "+00:00" if offset in "Zz" else offset
    if offset[1:] > "23:59":
        raise ValueError("its offset is further than 23:59 from UTC")
    if offset[4:] > "59":
        raise ValueError("its offset has more than 59 minutes")
    at = datetime.fromisoformat(f"{date}T{time}{offset}")
    whole = (at - _EPOCH) // timedelta(seconds=1) * SECOND
    return whole + ceil_millis(Decimal(f"0.{fraction or 0}"))


def ceil_millis(seconds: Decimal) -> Millis:
    """Decimal seconds as milliseconds, rounded up, however many digits they have."""
    with localcontext(rounding=ROUND_CEILING):
        return int((seconds * SECOND).to_integral_value())
