"""Bugs of series: the step, its net, and what their owners do."""

from collections.abc import Sequence
from typing import Any

from attrs import evolve

from delayer.accept.use_cases import once
from delayer.accept.use_cases.cancel import Cancelled
from delayer.engines.ports import ReceivedMessage
from delayer.engines.store.model import Put, Write
from delayer.history.model import SeriesRefuses
from delayer.ledger.model import LedgerChange, LedgerRow
from delayer.recurrence.terms import OnMissed
from delayer.schedule.instants import MINUTE, Millis
from delayer.schedule.schedule_id import key_of
from delayer.series.ports import SeriesTransaction
from delayer.series.repository.series_table import CURSOR
from delayer.series.rules import backfill, stepping
from delayer.series.rules.command import decide_beside, decide_delete, decide_pause, decide_resume
from delayer.series.rules.rules import new_times
from delayer.series.rules.series import Cursor, CursorChange, NewTimes, SeriesState
from delayer.series.rules.stepping import AT_THE_CLAIM, Step
from delayer.series.rules.upkeep import Fate
from delayer.series.use_cases import change, create, halt, occurrences, resume, run, step
from delayer.series.use_cases import tick as net
from tests.simulation.bugs.bug import Bug
from tests.simulation.oracle.invariant import Invariant
from tests.simulation.system.replica import Replica

_decide_step = stepping.decide_step
_decide_any_step = backfill.decide_any_step
_next_step = stepping.next_step
_transact = Replica.transact
_settled = step.StepSeries.settled
_react = step.ReactToEvents.__call__


_row = once.Once.row


def _whatever_it_is_about(cursor: Cursor, definition: Any, rule: Any, happened: Any, now: Millis) -> Any:
    about = evolve(happened, schedule_id=cursor.current or happened.schedule_id)
    return _decide_any_step(cursor, definition, rule, about, now)


def _in_any_state(cursor: Cursor, definition: Any, rule: Any, happened: Any, now: Millis) -> Any:
    is_closed = cursor.state in (SeriesState.PAUSED, SeriesState.CANCELLED)
    open_one = evolve(cursor, state=SeriesState.ACTIVE) if is_closed else cursor
    return _decide_step(open_one, definition, rule, happened, now)


def _from_when_it_ran(cursor: Cursor, definition: Any, rule: Any, now: Millis) -> Any:
    following = _next_step(cursor, definition, rule, now)
    return evolve(following, at=now + MINUTE) if isinstance(following, Step) else following


def _never_made_up(cursor: Cursor, definition: Any, rule: Any, now: Millis) -> Any:
    return _next_step(cursor, evolve(definition, on_missed=OnMissed.SKIP), rule, now)


def _always_made_up(cursor: Cursor, definition: Any, rule: Any, now: Millis) -> Any:
    return _next_step(cursor, evolve(definition, on_missed=OnMissed.ALL), rule, now)


def _at_the_claim(overlap: Any, kind: Any) -> bool:
    return kind in AT_THE_CLAIM


def _unconditionally(self: Any, writes: Sequence[Write]) -> None:
    """The cursor as it was decided, over whatever is there when it is written."""
    _transact(self, [_over_what_is_there(self, one) for one in writes])


def _over_what_is_there(replica: Replica, write: Write) -> Write:
    if not isinstance(write, Put) or write.when is None or write.key.get("entry") != CURSOR:
        return write
    current = replica.get(write.table, write.key)
    if current is None or current == write.item:
        return write
    return Put(write.table, write.key, {**write.values, "revision": current["revision"] + 1})


def _by_the_first_read(self: Any, series: str, rows: Any, happened: Any) -> Any:
    """Of its own write it knows the revision, so that the condition of the next one holds."""
    known: Any = _settled(self, series, rows, happened)
    if known is None or known is rows:
        return known
    return evolve(known, cursor=evolve(rows.cursor, revision=known.cursor.revision))


def _all_but_the_last(self: Any, batch: Sequence[ReceivedMessage]) -> list[str]:
    return _react(self, batch[:-1] if len(batch) > 1 else batch)


def _only_the_current(cursor: Cursor) -> tuple[str, ...]:
    return (cursor.current,) if cursor.current else ()


def _cancels_first(decide: Any) -> Any:
    def halted(self: Any, owner: str, series: str, by: str = "", detail: str = halt.DETAIL) -> Any:
        """The schedules first, and the cursor afterwards."""
        cursor = self.series.cursor(owner, series)
        answers = [self.cancel_of_series(one, owner, detail, by) for one in cursor.named]
        for _ in range(halt.ROUNDS):
            decision = decide(self.series.cursor(owner, series))
            if isinstance(decision, SeriesRefuses):
                return decision
            if not isinstance(decision, CursorChange):
                break
            stored = self.series.definition(owner, series)
            if self.series.write(self.retention.transaction(decision, stored)):
                break
        return halt.Halted(
            cursor=cursor,
            cancelled=tuple(one.row.schedule_id for one in answers if isinstance(one, Cancelled)),
            claimed=(),
            claimed_up_to=0,
        )

    return halted


def _makes_up_the_pause(cursor: Cursor, definition: Any, rule: Any, row: LedgerRow | None, now: Millis) -> Any:
    following = decide_resume(cursor, definition, rule, row, now)
    missed = rule.next_after(max(cursor.passed, cursor.at))
    return evolve(following, at=missed) if isinstance(following, Step) and missed else following


def _leaves_the_old_one(thing: Any, **values: Any) -> Any:
    values.pop("ends", None)
    return evolve(thing, **values)


def _another_rule(old: Any, new: Any) -> NewTimes:
    return NewTimes.PATTERN if new_times(old, new) is NewTimes.BOUNDS else new_times(old, new)


def _own_change_beside_the_cursor(self: Any, old: Any, row: Any, asked: Any) -> Any:
    filed = self.series.filed(old.id)
    cursor = self.series.cursor(filed.owner, filed.series) if filed else None
    if cursor is None:
        return SeriesRefuses("its series is gone")
    same = evolve(cursor, revision=cursor.revision + 1)
    return self.series.write(
        SeriesTransaction(cursor=same, over=cursor, put=(asked.put,), ends=(asked.end,), delete=(key_of(old.id),))
    )


def _reopens_without_a_name(self: Any, schedule: Any, opened: LedgerChange) -> Any:
    """The cursor is read, and nothing is written to it."""
    filed = self.series.filed(schedule.id)
    cursor = self.series.cursor(filed.owner, filed.series) if filed else None
    if cursor and isinstance(refused := decide_beside(cursor, schedule.id), SeriesRefuses):
        return refused
    [result] = self.ledger.write([opened])
    return result is None or isinstance(result, LedgerRow)


def _keeps_no_answer(self: Any, known: Any, **answer: Any) -> Any:
    return None if known.call.what.startswith((run.RUN_NOW, run.BACKFILL)) else _row(self, known, **answer)


def _runs_unnamed(cursor: Cursor, schedule_id: str, over: Any = ()) -> Any:
    decision = decide_beside(cursor, schedule_id, over)
    if isinstance(decision, SeriesRefuses):
        return decision
    return CursorChange(cursor=evolve(decision.cursor, beside=cursor.beside), over=cursor)


def _no_net(self: Any, began: Millis) -> None:
    return None


def _settled_at_once(*_: Any) -> Fate:
    return Fate.FORGET


BUGS = (
    Bug(
        name="any-event-steps",
        what="whatever event of a series comes is taken for one of its current occurrence",
        breaks=Invariant.CANCEL_TRUTH,
        swaps=((step, "decide_any_step", _whatever_it_is_about),),
    ),
    Bug(
        name="cursor-without-condition",
        what="the cursor of a series is written without a condition on its revision",
        breaks=Invariant.CANCEL_TRUTH,
        swaps=((Replica, "transact", _unconditionally),),
    ),
    Bug(
        name="second-by-the-first-read",
        what="the second event of a series in a batch steps by the cursor from before the first one's write",
        breaks=Invariant.EACH_ONCE,
        swaps=((step.StepSeries, "settled", _by_the_first_read),),
    ),
    Bug(
        name="last-of-a-batch-forgotten",
        what="the last event of a batch is deleted and not handled",
        breaks=Invariant.NONE_MISSING,
        swaps=((step.ReactToEvents, "__call__", _all_but_the_last),),
    ),
    Bug(
        name="steps-in-a-pause",
        what="an event that is late steps a series that is paused or cancelled",
        breaks=Invariant.CANCEL_TRUTH,
        swaps=((backfill, "decide_step", _in_any_state),),
    ),
    Bug(
        name="time-from-the-last-run",
        what="the next time is reckoned from when the last occurrence ran",
        breaks=Invariant.AS_ASKED,
        whose="every scheduler that sleeps for its interval",
        swaps=((stepping, "next_step", _from_when_it_ran),),
    ),
    Bug(
        name="missed-forgotten",
        what="times that were missed are left out, although they are to be made up",
        breaks=Invariant.NONE_MISSING,
        swaps=((stepping, "next_step", _never_made_up),),
    ),
    Bug(
        name="missed-made-up",
        what="all times that were missed are made up, although they are to be left out",
        breaks=Invariant.EACH_ONCE,
        swaps=((stepping, "next_step", _always_made_up),),
    ),
    Bug(
        name="overlap-ignored",
        what="the next occurrence is put at the claim of the last one, although they must not overlap",
        breaks=Invariant.AS_ASKED,
        swaps=((stepping, "is_over_for", _at_the_claim),),
    ),
    Bug(
        name="backfill-at-the-claim",
        what="a backfill goes on at the claim of its last occurrence, and becomes a burst",
        breaks=Invariant.AS_ASKED,
        swaps=((backfill, "AT_AN_END", AT_THE_CLAIM),),
    ),
    Bug(
        name="only-the-current",
        what="a pause cancels the current occurrence, and not those beside it",
        breaks=Invariant.CANCEL_TRUTH,
        swaps=((Cursor, "named", property(_only_the_current)),),
    ),
    Bug(
        name="cancels-before-the-cursor",
        what="a pause or a DELETE cancels the schedules first, and writes the cursor afterwards",
        breaks=Invariant.CANCEL_TRUTH,
        whose="Delayer, in its first design",
        swaps=(
            (halt.Halt, "pause", _cancels_first(decide_pause)),
            (halt.Halt, "delete", _cancels_first(decide_delete)),
        ),
    ),
    Bug(
        name="pause-made-up",
        what="a resume begins with the first time of the pause",
        breaks=Invariant.EACH_ONCE,
        swaps=((resume, "decide_resume", _makes_up_the_pause),),
    ),
    Bug(
        name="change-beside-the-old-one",
        what="a change puts the new occurrence, and leaves the old one where it is",
        breaks=Invariant.EACH_ONCE,
        swaps=((change, "evolve", _leaves_the_old_one),),
    ),
    Bug(
        name="another-end-is-another-rule",
        what="a rule whose end is changed takes back what its owner has cancelled, or moved to an earlier time",
        breaks=Invariant.EACH_ONCE,
        whose="Delayer, before it compared the pattern of a rule",
        swaps=((change, "new_times", _another_rule),),
    ),
    Bug(
        name="own-change-unnamed",
        what="an occurrence that is moved by its own id is not named in the cursor",
        breaks=Invariant.CANCEL_TRUTH,
        swaps=((occurrences.Occurrences, "replace", _own_change_beside_the_cursor),),
    ),
    Bug(
        name="redrive-unnamed",
        what="a redrive looks whether the series is paused, and is not named in its cursor",
        breaks=Invariant.CANCEL_TRUTH,
        whose="Delayer, in its first design",
        swaps=((occurrences.Occurrences, "reopen", _reopens_without_a_name),),
    ),
    Bug(
        name="run-now-unnamed",
        what="an occurrence of run-now is not named in the cursor",
        breaks=Invariant.CANCEL_TRUTH,
        swaps=((run, "decide_beside", _runs_unnamed),),
    ),
    Bug(
        name="run-now-twice",
        what="a run-now that is repeated with its idempotency key runs once more",
        breaks=Invariant.EACH_ONCE,
        swaps=((once.Once, "row", _keeps_no_answer),),
    ),
    Bug(
        name="series-key-counts-as-new",
        what="a POST of a series that is repeated with its idempotency key makes a second one",
        breaks=Invariant.ONE_KEY,
        swaps=((create, "KEY_LIFETIME", 0),),
    ),
    Bug(
        name="no-net",
        what="a lost event is the end of its series",
        breaks=Invariant.NONE_MISSING,
        swaps=((net.Net, "__call__", _no_net),),
    ),
    Bug(
        name="net-looks-once",
        what="the net forgets what has not happened when it looks",
        breaks=Invariant.NONE_MISSING,
        swaps=((net, "decide_look", _settled_at_once),),
    ),
)
