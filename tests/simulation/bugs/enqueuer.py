"""Bugs of stream-enqueuer."""

from collections.abc import Sequence
from typing import Any

from delayer.engines.ports import Unavailable
from delayer.enqueue import enqueue
from delayer.enqueue import rules as enqueueing
from delayer.recovery import rules as trial
from delayer.schedule.instants import MAX_DELAY_SECONDS, Malformed, Millis
from delayer.schedule.messages import DelayerMessage
from delayer.schedule.schedule import Schedule
from delayer.schedule.table_change import RecordChange
from tests.simulation.bugs.bug import NEVER_HELD, Bug
from tests.simulation.oracle.invariant import Invariant

_decide = enqueueing.decide
_send = enqueue.Enqueue.send
_call = enqueue.Enqueue.__call__


def _only_the_future(change: RecordChange, now: Millis, period: Millis) -> enqueueing.Decision:
    decision = _decide(change, now, period)
    if isinstance(decision, enqueueing.Send | enqueueing.DeleteRecord) and decision.schedule.point_in_time < now:
        return enqueueing.Ignore()
    return decision


def _send_ignoring_failures(self: Any, removed: Any) -> list[str]:
    _send(self, removed)
    return []


def _swallow_errors(self: Any, changes: Any, *, brought_back: bool = False) -> list[str]:
    _call(self, changes, brought_back=brought_back)
    return []


def _fire_any_removal(schedule: Any, row: Any) -> enqueueing.Decision:
    return enqueueing.Send(schedule=schedule, delay_seconds=MAX_DELAY_SECONDS)


def _forget_far_removals(schedule: Any, row: Any) -> enqueueing.Decision:
    return enqueueing.Ignore()


def _choke_on_garbage(self: Any, changes: Any, *, brought_back: bool = False) -> list[str]:
    if any(isinstance(change.row, Malformed) for change in changes):
        raise Unavailable("it cannot be read")
    return _call(self, changes, brought_back=brought_back)


def _dead_letter_what_fails(self: Any, beyond_us: Sequence[tuple[RecordChange, str]]) -> list[str]:
    poison = [
        (change, enqueueing.MoveToDeadLetters(reason=reason, schedule=change.row))
        for change, reason in beyond_us
        if isinstance(change.row, Schedule)
    ]
    return list(self.dead_letter(poison))


def _try_for_ever(before: Any, passed: Any, changed_at: Millis, now: Millis) -> trial.Try:
    return trial.Try(trial.Trial(began=now))


def _nonce_of_the_event(self: Any, schedule: Any, change: Any) -> DelayerMessage:
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
        swaps=((enqueueing, "decide_far_removal", _fire_any_removal), *NEVER_HELD),
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
        swaps=((enqueue.Enqueue, "__call__", _choke_on_garbage),),
    ),
    Bug(
        name="failure-is-poison",
        what="a record that our own code fails at becomes a dead letter, instead of being set aside",
        breaks=Invariant.NOBODY_NEEDED,
        whose="Delayer, before ADR 0082",
        swaps=((enqueue.Enqueue, "set_aside", _dead_letter_what_fails),),
    ),
    Bug(
        name="killer-blocks-shard",
        what="a record of which the enqueuer dies is tried until Lambda gives it up after 23 hours",
        breaks=Invariant.HARMLESS,
        whose="Delayer, before ADR 0082, after six hours",
        swaps=((enqueue, "decide_record_trial", _try_for_ever),),
    ),
    Bug(
        name="stream-event-nonce",
        what="the nonce is the stream's event id, which is the same for both sends of a repeated record",
        breaks=Invariant.ONCE,
        swaps=((enqueue.Enqueue, "message", _nonce_of_the_event),),
    ),
)
