"""Instants are whole milliseconds since the epoch, UTC; minutes are whole minutes since the epoch.

Here are the spans, too, with which several rooms reckon, and the two errors of whatever cannot be read.

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
MAX_DELAY_SECONDS: Final = 900  # the longest delay of SQS
MAX_HOLD: Final[Millis] = 3 * SECOND  # what is earlier goes back into the queue: a hold is paid for (ADR 0016)
NEARLY_DUE: Final[Millis] = 30 * MINUTE  # no function deletes a record that is due later than this (ADR 0003)
TTL_MARGIN: Final[Millis] = 7 * DAY  # DynamoDB's TTL, the last safety net, deletes a record this long after it was due
STALE_AFTER: Final[Millis] = 29 * DAY  # a copy this late becomes a dead letter: its ledger row may be about to expire
ATTEMPT_OVER: Final[Millis] = 4 * MINUTE  # after an end was written, no attempt from before it is under way (ADR 0070)
UNDECIDED_KEPT: Final[Millis] = 400 * DAY  # of the name, the group and the end of what waits for its time
ROW_LIFETIME: Final[Millis] = 30 * DAY  # of a ledger row, after the later of its due time and its last write


def minute_of(instant: Millis) -> Minute:
    """The minute an instant falls in."""
    return instant // MINUTE


def start_of(minute: Minute) -> Millis:
    """The first millisecond of a minute."""
    return minute * MINUTE


def format_instant(instant: Millis) -> str:
    """RFC 3339 in UTC with milliseconds: `2026-11-21T09:00:00.250Z`."""
    at = _EPOCH + timedelta(milliseconds=instant)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def format_minute(minute: Minute) -> str:
    """A minute as people read it in a table: `2026-11-21T09:00`."""
    return (_EPOCH + timedelta(minutes=minute)).isoformat()[: len("2026-11-21T09:00")]


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
    fraction = fraction or ""
    return whole + (int(fraction.ljust(3, "0")) if len(fraction) <= 3 else ceil_millis(Decimal(f"0.{fraction}")))


def ceil_millis(seconds: Decimal) -> Millis:
    """Decimal seconds as milliseconds, rounded up, however many digits they have."""
    with localcontext(rounding=ROUND_CEILING):
        return int((seconds * SECOND).to_integral_value())


def edge_of(now: Millis, period: Millis) -> Minute:
    """The last minute that belongs to the delayer queue."""
    return minute_of(now + period)


def within_period(minute: Minute, now: Millis, period: Millis) -> bool:
    """The one predicate of fast track and sweep: with two, a record could fall between them (ADR 0011)."""
    return minute <= edge_of(now, period)


def delay_seconds(due: Millis, now: Millis) -> int:
    """Whole seconds until due, rounded *down* and within SQS's bounds: the relay holds the rest (ADR 0016)."""
    return min(max((due - now) // SECOND, 0), MAX_DELAY_SECONDS)


class UnknownVersion(ValueError):
    """A format version that this code does not know. It waits for the code that does (ADR 0081).

    It is raised as an exception, and it is also used as a value, in the place of the record that cannot be read.
    """


class Malformed(ValueError):
    """A bad shape in a format version that this code knows. Its text is the reason.

    It is raised as an exception, and it is also used as a value, in the place of the record that cannot be read.
    """

    @property
    def reason(self) -> str:
        """Why it cannot be read."""
        return str(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Malformed) and self.reason == other.reason

    def __hash__(self) -> int:
        return hash(self.reason)
