"""Bugs of task-1minute-enqueuer."""

from collections.abc import Sequence
from typing import Any

from attrs import evolve

from delayer.engines.ports import Unavailable
from delayer.enqueue import rules as enqueueing
from delayer.enqueue import sweep
from delayer.enqueue.rules import SweepGate
from delayer.schedule.instants import MINUTE, Millis, edge_of, minute_of
from delayer.schedule.schedule_id import Progress, Shards
from tests.simulation.bugs.bug import Bug, never
from tests.simulation.oracle.invariant import Invariant

_sweep = sweep.Tick.sweep
_decide_gate = enqueueing.decide_gate


def _one_minute_only(progress: Progress, now: Millis, period: Millis, gate: SweepGate) -> enqueueing.SweepPlan:
    return enqueueing.SweepPlan(minutes=(edge_of(now, period),), whole=False)


def _sweep_one_shard(self: Any, shards: Shards, began: Millis, gate: SweepGate, backlog: int) -> None:
    _sweep(self, evolve(shards, highest=0), began, gate, backlog)


def _closable_at_once(minute: int, query_began: Millis) -> bool:
    return minute <= minute_of(query_began + 14 * MINUTE)


def _deleted_is_empty(parts: Sequence[bool]) -> bool:
    return True


def _close_what_comes(self: Any, watermark: int, shards: Any, began: Millis, whole: bool, room: int) -> sweep.Closing:
    closed_until = edge_of(began, self.period) + 2
    return sweep.Closing(closed_until=closed_until, swept=sweep.Swept(), finished=True)


def _nothing_near(progress: Progress, now: Millis, period: Millis, gate: SweepGate) -> enqueueing.SweepPlan:
    return enqueueing.SweepPlan(minutes=(), whole=False)


def _all_or_nothing(seen: Millis | None, backlog: int, mark: int, now: Millis) -> SweepGate:
    return SweepGate.OPEN if _decide_gate(seen, backlog, mark, now) is SweepGate.OPEN else SweepGate.CLOSED


def _skip_big_buckets(self: Any, bucket: Any) -> sweep.Inspection:
    try:
        page = self.schedules.page(bucket)
    except Unavailable:
        return sweep.Inspection(failed=True)
    return sweep.Inspection() if page.more else sweep.Inspection(keys=page.keys, empty=not page.keys)


BUGS = (
    Bug(
        name="one-minute-only",
        what="each tick queries exactly one minute, and nothing catches up",
        breaks=Invariant.ONE_END,
        whose="bahrmichael",
        swaps=((enqueueing, "plan", _one_minute_only), (enqueueing, "may_close", never)),
    ),
    Bug(
        name="watermark-too-soon",
        what="the watermark is moved as far as the sweep looks ahead",
        breaks=Invariant.ONE_END,
        swaps=((sweep.Tick, "close", _close_what_comes),),
    ),
    Bug(
        name="deleted-is-empty",
        what="each minute is swept once, and closed even if records are left (`UnprocessedItems` ignored)",
        breaks=Invariant.ONE_END,
        whose="delayer-aws",
        swaps=(
            (enqueueing, "plan", _nothing_near),
            (enqueueing, "all_empty", _deleted_is_empty),
            (enqueueing, "may_close", _closable_at_once),
        ),
    ),
    Bug(
        name="big-bucket-skipped",
        what="a bucket of more than one page is not handed on",
        breaks=Invariant.NOTHING_WAITS,
        swaps=((sweep.Tick, "inspect", _skip_big_buckets),),
    ),
    Bug(
        name="own-shards",
        what="the sweep takes the number of shards from its own environment, not from the control row",
        breaks=Invariant.ONE_END,
        swaps=((sweep.Tick, "sweep", _sweep_one_shard),),
    ),
    Bug(
        name="backlog-stops-all",
        what="one owner who posts faster than the relay drains stops the sweep for everybody",
        breaks=Invariant.ONE_END,
        whose="Delayer, before ADR 0085",
        swaps=((enqueueing, "decide_gate", _all_or_nothing),),
    ),
)
