"""Instants as the API writes them, in whole milliseconds since the epoch, UTC."""

from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

Millis: TypeAlias = int

SECOND: Final[Millis] = 1_000
MINUTE: Final[Millis] = 60 * SECOND
HOUR: Final[Millis] = 60 * MINUTE
DAY: Final[Millis] = 24 * HOUR
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def format_instant(instant: Millis) -> str:
    """`2026-11-21T09:00:00.250Z`."""
    return (EPOCH + timedelta(milliseconds=instant)).strftime("%Y-%m-%dT%H:%M:%S.") + f"{instant % SECOND:03}Z"


def parse_instant(text: str) -> Millis:
    """The inverse of format_instant."""
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(milliseconds=1)


def minute_of(instant: Millis) -> int:
    """The minute an instant falls in, since the epoch."""
    return instant // MINUTE


def start_of(minute: int) -> Millis:
    """The first millisecond of a minute."""
    return minute * MINUTE
