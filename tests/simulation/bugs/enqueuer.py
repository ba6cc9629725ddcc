"""Bugs of stream-enqueuer."""

from contextlib import suppress
from typing import Any

from delayer.core.firing import enqueueing, executing
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.malformed import Malformed
from delayer.core.schedule.margins import MAX_DELAY_SECONDS
from delayer.core.schedule.messages import DelayerMessage
from delayer.core.schedule.table_change import RecordChange
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.firing import enqueue
from tests.simulation.bugs.bug import Bug
from tests.simulation.oracle.invariant import Invariant

_decide = enqueueing.decide
_send = enqueue.Enqueue.send
_call = enqueue.Enqueue.__call__


def _only_the_future(change: RecordChange, now: Millis, period: Millis) -> enqueueing.Decision:
    decision = _decide(change, now, period)
    if isinstance(decision, enqueueing.Send | enqueueing.Delete) and decision.schedule.point_in_time < now:
        return enqueueing.Ignore()
    return decision


def _send_ignoring_failures(self: Any, removed: Any) -> list[str]:
    _send(self, removed)
    return []


def _swallow_errors(self: Any, changes: Any) -> list[str]:
    with suppress(Unavailable):
        _call(self, changes)
    return []


def _fire_any_removal(schedule: Any, row: Any) -> enqueueing.Decision:
    return enqueueing.Send(schedule=schedule, delay_seconds=MAX_DELAY_SECONDS)


def _no_wait(message: Any, now: Millis) -> None:
    return None


def _forget_far_removals(schedule: Any, row: Any) -> enqueueing.Decision:
    return enqueueing.Ignore()


def _choke_on_garbage(change: RecordChange, now: Millis, period: Millis) -> enqueueing.Decision:
    if isinstance(change.row, Malformed):
        raise Unavailable("it cannot be read")
    return _decide(change, now, period)


def _nonce_of_the_event(self: Any, schedule: Any) -> DelayerMessage:
    return DelayerMessage(schedule=schedule, nonce=f"event-{schedule.id}")


BUGS = (
    Bug(
        name="overdue-filtered",
        what="the enqueuer does not send what is overdue (`pit >= now`)",
        breaks=Invariant.NOTHING_LOST,
        whose="delayer-aws",
        swaps=((enqueueing, "decide", _only_the_future),),
    ),
    Bug(
        name="failed-ignored",
        what="the enqueuer ignores `Failed[]` of a batch sent to SQS",
        breaks=Invariant.NOTHING_LOST,
        whose="delayer-aws",
        swaps=((enqueue.Enqueue, "send", _send_ignoring_failures),),
    ),
    Bug(
        name="stream-errors-swallowed",
        what="the enqueuer logs an error, and reports success to the stream",
        breaks=Invariant.NOTHING_LOST,
        whose="delayer-aws",
        swaps=((enqueue.Enqueue, "__call__", _swallow_errors),),
    ),
    Bug(
        name="any-removal-fires",
        what="a record deleted by hand long before its time fires",
        breaks=Invariant.NEVER_EARLY,
        whose="delayer-aws",
        swaps=((enqueueing, "decide_far_removal", _fire_any_removal), (executing, "decide_wait", _no_wait)),
    ),
    Bug(
        name="far-removal-forgotten",
        what="a record deleted by hand long before its time is forgotten",
        breaks=Invariant.NOTHING_LOST,
        swaps=((enqueueing, "decide_far_removal", _forget_far_removals),),
    ),
    Bug(
        name="poison-blocks-shard",
        what="a malformed record makes the handler fail, again and again",
        breaks=Invariant.HARMLESS,
        whose="delayer-aws",
        swaps=((enqueueing, "decide", _choke_on_garbage),),
    ),
    Bug(
        name="stream-event-nonce",
        what="the nonce is the stream's event id, which is the same for both sends of a repeated record",
        breaks=Invariant.ONCE,
        swaps=((enqueue.Enqueue, "message", _nonce_of_the_event),),
    ),
)
