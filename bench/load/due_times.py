"""When the schedules of a run are due, in epoch milliseconds. No input or output here."""

import random

SECOND = 1000
MINUTE = 60 * SECOND


def evenly(start: int, rate: int, seconds: int) -> list[int]:
    """`rate` per second, all at the same distance: 20 ms at 50 per second."""
    return [start + number * SECOND // rate for number in range(rate * seconds)]


def evenly_in_a_minute(start: int, count: int) -> list[int]:
    """All at the same distance, in one minute."""
    return [start + number * MINUTE // count for number in range(count)]


def within_a_second(start: int, count: int) -> list[int]:
    """At random within one second; the same each time."""
    chance = random.Random(count)
    return sorted(start + chance.randrange(SECOND) for _ in range(count))


def at_once(start: int, count: int) -> list[int]:
    """All at the same millisecond."""
    return [start] * count


def first_minute_to_sweep(posted_by: int, period_ms: int) -> int:
    """The start of the first minute for which no fast track is used if the last POST is made at `posted_by`."""
    return ((posted_by + period_ms) // MINUTE + 1) * MINUTE


def sweep_at(minute_start: int, period_ms: int) -> int:
    """The first instant at which the minute task sweeps this minute."""
    return minute_start - period_ms // MINUTE * MINUTE
