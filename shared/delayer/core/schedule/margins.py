"""How long messages wait and rows are stored, and when a copy is too old to fire.

The order of the margins matters (ADR 0023).
"""

from typing import Final

from delayer.core.schedule.instants import DAY, MINUTE, SECOND, Millis, Minute, minute_of

MAX_DELAY_SECONDS: Final = 900  # the longest delay of SQS
MAX_HOLD: Final[Millis] = 3 * SECOND  # what is earlier goes back into the queue: a hold is paid for (ADR 0016)
NEARLY_DUE: Final[Millis] = 30 * MINUTE  # no function deletes a record that is due later than this (ADR 0003)
TTL_MARGIN: Final[Millis] = 7 * DAY  # DynamoDB's TTL, the last safety net, deletes a record this long after it was due
STALE_AFTER: Final[Millis] = 29 * DAY  # a copy this late becomes a dead letter: its ledger row may be about to expire
ATTEMPT_OVER: Final[Millis] = 4 * MINUTE  # after an end was written, no attempt from before it is under way (ADR 0070)
UNDECIDED_KEPT: Final[Millis] = 400 * DAY  # of the name, the group and the end of what waits for its time
ROW_LIFETIME: Final[Millis] = 30 * DAY  # of a ledger row, after the later of its due time and its last write


def edge_of(now: Millis, period: Millis) -> Minute:
    """The last minute that belongs to the delayer queue."""
    return minute_of(now + period)


def within_period(minute: Minute, now: Millis, period: Millis) -> bool:
    """The one predicate of fast track and sweep: with two, a record could fall between them (ADR 0011)."""
    return minute <= edge_of(now, period)


def delay_seconds(due: Millis, now: Millis) -> int:
    """Whole seconds until due, rounded *down* and within SQS's bounds: the relay holds the rest (ADR 0016)."""
    return min(max((due - now) // SECOND, 0), MAX_DELAY_SECONDS)
