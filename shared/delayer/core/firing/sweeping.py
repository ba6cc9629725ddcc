"""Which buckets a tick of the minute task looks at, whether it may, and when a minute is closed."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from attrs import frozen

from delayer.core.schedule.bucket import Progress, Shards
from delayer.core.schedule.instants import MINUTE, SECOND, Millis, Minute, minute_of, start_of
from delayer.core.schedule.margins import edge_of
from delayer.core.schedule.table_change import Heartbeat, Heartbeats

CLOSABLE_AFTER: Final[Millis] = 10 * MINUTE  # longer than any write may take to arrive (ADR 0013)
HEARTBEAT_FRESH: Final[Millis] = 3 * MINUTE
HEARTBEAT_WAIT: Final[Millis] = 10 * SECOND
AWAITED_TICKS: Final = 4  # as many ticks' heartbeats may be on their way
AGAIN_AFTER: Final[Millis] = 30 * SECOND  # a heartbeat that did not come through is sent again by the next tick
BACKLOG_PER_RELAY: Final = 100  # visible messages for each relay that may run: beyond them it is not keeping up
URGENT: Final[Millis] = 3 * MINUTE  # what is due within this is swept whatever the backlog (ADR 0085)
OLD_SHARE: Final = 3  # what is old gets at least one part in so many of the time, and of the room
WHOLE_WINDOW_EVERY: Final[Millis] = 5 * MINUTE
GAP: Final[Millis] = 90 * SECOND  # longer since the last tick than this: one was missed


class Gate(StrEnum):
    """What may be swept now."""

    OPEN = "open"
    URGENT = "what is urgent"  # the relay has a backlog
    CLOSED = "nothing"  # the stream is not read: what leaves the table now may be lost


def decide_gate(seen: Millis | None, backlog: int, mark: int, now: Millis) -> Gate:
    """`seen` is the newest heartbeat that came through the stream, `backlog` the number of visible messages."""
    if not heartbeat_is_fresh(seen, now):
        return Gate.CLOSED
    return Gate.URGENT if backlog > mark else Gate.OPEN


def may_sweep(gate: Gate, minute: Minute, now: Millis) -> bool:
    """Whether a minute may be swept."""
    return gate is Gate.OPEN or (gate is Gate.URGENT and is_urgent(minute, now))


def is_urgent(minute: Minute, now: Millis) -> bool:
    """Nearly due, or overdue only since minutes that cannot be closed yet."""
    return first_open(now) <= minute <= minute_of(now + URGENT)


def room_for_the_old(backlog: int, mark: int) -> int:
    """How many overdue records a tick may delete: each of them is visible in the delayer queue at once."""
    return max(mark - backlog, mark // OLD_SHARE)


@frozen(kw_only=True)
class Plan:
    """What a tick sweeps: the edge first, so that what is on time stays on time during a catch-up."""

    minutes: tuple[Minute, ...]  # swept in this order; bounded, whatever the outage was
    whole: bool  # whether the old minutes after the watermark are all swept, too, or only closed


def plan(progress: Progress, now: Millis, period: Millis, gate: Gate = Gate.OPEN) -> Plan:
    """The edge of the delayer period and the two minutes before it; every five minutes, and after a gap, all that
    cannot be closed yet, too (ADR 0012). Older minutes are swept as the watermark passes over them.

    While the relay has a backlog, only what is urgent.
    """
    edge = edge_of(now, period)
    if gate is Gate.URGENT:
        last = min(edge, minute_of(now + URGENT))
        return Plan(minutes=tuple(range(max(progress.closed_until, first_open(now)), last + 1))[::-1], whole=False)
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


def beats_to_send(known: Heartbeats, count: int, now: Millis) -> tuple[list[Heartbeat], list[Heartbeat]]:
    """The new ones of a tick, and those to be sent once more, as it is not known whether they were ever written.

    Each new one has a key of its own, and so takes a shard and a lane by chance. While several ticks' worth are awaited
    there is no new one: the stream is not read, and need not be filled with them (ADR 0123).
    """
    if not known.reads_lanes:
        return [], []
    new = (
        []
        if len(known.awaited) >= AWAITED_TICKS * count
        else [Heartbeat(sent_at=now, lane=str(lane)) for lane in range(count)]
    )
    return new, [one for one in known.awaited if now - one.sent_at >= AGAIN_AFTER]


def heartbeat_is_fresh(seen: Millis | None, now: Millis) -> bool:
    """Whether the stream consumer has kept up with the minute task."""
    return seen is not None and now - seen <= HEARTBEAT_FRESH


def all_empty(emptiness: Sequence[bool]) -> bool:
    """A minute is closed only if every shard ever used was found empty."""
    return len(emptiness) > 0 and all(emptiness)
