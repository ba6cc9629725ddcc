"""Which buckets a tick of the minute task looks at, whether it may, and when a minute is closed."""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.core.firing.enqueueing import edge_of
from delayer.core.schedule.bucket import Progress, Shards
from delayer.core.schedule.instants import MINUTE, SECOND, Millis, Minute, minute_of, start_of

CLOSABLE_AFTER: Final[Millis] = 10 * MINUTE  # longer than any write may take to arrive (ADR 0013)
HEARTBEAT_FRESH: Final[Millis] = 3 * MINUTE
HEARTBEAT_WAIT: Final[Millis] = 10 * SECOND
MAX_BACKLOG: Final = 10_000  # visible messages; the relay is not keeping up (ADR 0014)
WHOLE_WINDOW_EVERY: Final[Millis] = 5 * MINUTE
GAP: Final[Millis] = 90 * SECOND  # longer since the last tick than this: one was missed


@frozen(kw_only=True)
class Plan:
    """What a tick sweeps: the edge first, so that what is on time stays on time during a catch-up."""

    minutes: tuple[Minute, ...]  # swept in this order; bounded, whatever the outage was
    whole: bool  # whether the old minutes after the watermark are all swept, too, or only closed


def plan(progress: Progress, now: Millis, period: Millis) -> Plan:
    """The edge of the delayer period and the two minutes before it; every five minutes, and after a gap, all that
    cannot be closed yet, too (ADR 0012). Older minutes are swept as the watermark passes over them."""
    edge = edge_of(now, period)
    near = tuple(minute for minute in (edge, edge - 1, edge - 2) if minute >= progress.closed_until)
    if now - progress.whole_at < WHOLE_WINDOW_EVERY and now - progress.swept_at <= GAP:
        return Plan(minutes=near, whole=False)
    return Plan(minutes=near + tuple(range(max(progress.closed_until, first_open(now)), edge - 2)), whole=True)


def first_open(now: Millis) -> Minute:
    """The first minute that cannot be closed yet."""
    return minute_of(now - CLOSABLE_AFTER)


def first_progress(shards: Shards) -> Progress:
    """Where the sweep of a new stack begins."""
    return Progress(closed_until=shards.since)


def may_close(minute: Minute, query_began: Millis) -> bool:
    """Whether a query that finds the minute empty proves that it stays so (ADR 0013)."""
    return query_began >= start_of(minute + 1) + CLOSABLE_AFTER


def heartbeat_is_fresh(seen: Millis | None, now: Millis) -> bool:
    """Whether the stream consumer has kept up with the minute task."""
    return seen is not None and now - seen <= HEARTBEAT_FRESH


def all_empty(emptiness: Sequence[bool]) -> bool:
    """A minute is closed only if every shard ever used was found empty."""
    return len(emptiness) > 0 and all(emptiness)
