"""Bugs of the executors."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from attrs import evolve

from delayer.actions.rules.model import Done
from delayer.dead_letters import dead_letter
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Item
from delayer.execute import execute
from delayer.execute import rules as executing
from delayer.execute.desk import Apart, Course
from delayer.execute.execute import Held, LineUp
from delayer.flow.rules.gate import Later
from delayer.ledger import rules as ledger_rules
from delayer.ledger.model import LedgerChange, LedgerRow, Refuse, State
from delayer.ledger.repository import KEY, StoredLedger, StoredLedgerInBatches, from_item
from delayer.ledger.rules import hopped
from delayer.schedule import retrying
from delayer.schedule.instants import MAX_DELAY_SECONDS
from tests.simulation.bugs.bug import Bug, never
from tests.simulation.oracle.invariant import Invariant

_call = execute.Execute.__call__
_go = execute.Execute.go
_decide_attempt = executing.decide_attempt
_decide_later = executing.decide_later
_retry_seconds = retrying.retry_seconds
_send = execute.Execute.send
_reach = execute.Execute.reach


_write = execute.Execute.write
_write_all = StoredLedgerInBatches.write


def _succeeds_as_a_whole(self: Any, changes: Any) -> Any:
    return [None if isinstance(one, Unavailable) else one for one in _write(self, changes)]


def _in_another_order(self: Any, changes: Any) -> Any:
    return _write_all(self, changes)[::-1]


def _read_eventually(self: Any, schedule_id: str) -> LedgerRow | None:
    item = self.store.get(self.table, {KEY: schedule_id}, latest=False)
    return None if item is None else from_item(item)


def _items_eventually(self: Any, schedule_ids: Sequence[str]) -> list[Item]:
    items: list[Item] = self.store.get_many(
        self.table, [{KEY: schedule_id} for schedule_id in dict.fromkeys(schedule_ids)], latest=False
    )
    return items


def _no_outcome_check(message: Any, row: LedgerRow | None) -> Any:
    return executing.Attempt()


def _no_fencing(message: Any, row: LedgerRow | None) -> Any:
    verdict = _decide_attempt(message, row)
    return executing.Attempt() if isinstance(verdict, Refuse) and row and not row.ended else verdict


def _no_repair(message: Any, row: LedgerRow | None) -> Any:
    verdict = _decide_attempt(message, row)
    return Refuse("already retried") if isinstance(verdict, executing.SendNext) else verdict


def _always_sent(self: Any, message: Any, delay: int) -> Course:
    yield from _send(self, message, delay)
    return True


def _fail_without_body(self: Any, message: Any, row: LedgerRow, reason: str) -> Course:
    yield from self.end(message, row, State.FAILED, reason)
    return True


def _left_in_its_queue(self: Any, *_: Any) -> Course:
    yield from ()
    return False


def _whatever_its_row_says(message: Any, row: LedgerRow, later: Any, now: Any) -> Any:
    return _decide_later(message, evolve(row, retry_at=0), later, now)


def _but_the_last(self: Any, batch: Sequence[Any], beside: Any = None) -> list[str]:
    return _call(self, batch[:-1] if len(batch) > 1 else batch, beside)


def _deleted_as_it_is_early(self: Any, held: Held) -> Course:
    answer = yield LineUp(message=held.message, receipt=held.receipt)
    return True if isinstance(answer, Later) else (yield from _go(self, held))


def _written_first(self: Any, held: Held, row: LedgerRow) -> Course:
    lateness = executing.lateness(held.message, self.clock.now())
    made = executing.Made(message=held.message, result=Done("HTTP 200"), lateness=lateness)
    is_done = yield from self.record(made, row)
    yield Apart(partial(self.make, held, row))
    return is_done


def _taken_later(self: Any, held: Held, row: LedgerRow) -> Course:
    made = yield Apart(partial(self.make, held, row))
    if isinstance(made, Later):
        return (yield from self.put_off(held, row, made))
    following = ledger_rules.taken(row, held.message.fence)
    current = yield execute.Write(LedgerChange(row=following, over=row))
    return current or (yield from self.record(made, following))


def _gives_up_at_once(made: Any, result: Any, *_: Any) -> Any:
    return executing.GiveUp(result.detail)


def _hops_with_its_old_token(row: LedgerRow, fence: str, now: Any, after: str, retry_at: Any = 0) -> LedgerRow:
    return evolve(hopped(row, fence, now, after, retry_at), fence=after)


def _hop_is_an_attempt(row: LedgerRow, fence: str, now: Any, after: str, retry_at: Any = 0) -> LedgerRow:
    return evolve(hopped(row, fence, now, after, retry_at), attempt=row.attempt + 1)


def _hops_in_secret(row: LedgerRow, fence: str, now: Any, after: str, retry_at: Any = 0) -> LedgerRow:
    return evolve(hopped(row, fence, now, after, retry_at), retry_of=row.retry_of)


def _age_from_the_point_in_time(made: Any, row: LedgerRow) -> Any:
    return made.message.schedule.point_in_time


def _at_most_a_quarter_of_an_hour(*policy_and_attempt: Any) -> int:
    return min(_retry_seconds(*policy_and_attempt), MAX_DELAY_SECONDS)


def _last_token_only(message: Any, row: LedgerRow | None) -> Any:
    verdict = _decide_attempt(message, row)
    if isinstance(verdict, executing.Take) and row and row.fence != message.fence:
        return Refuse("overtaken by another message")
    return verdict


def _take_without_a_note(message: Any, row: LedgerRow | None) -> Any:
    verdict = _decide_attempt(message, row)
    return executing.Attempt() if isinstance(verdict, executing.Take) else verdict


def _takes_it_for_done(self: Any, message: Any) -> Any:
    return Done(_reach(self, message).detail)


BUGS = (
    Bug(
        name="no-outcome-check",
        what="the executor does not read the ledger",
        breaks=Invariant.ONCE,
        swaps=((executing, "decide_attempt", _no_outcome_check),),
    ),
    Bug(
        name="eventual-reads",
        what="the ledger is read without `ConsistentRead`",
        breaks=Invariant.NOTHING_LOST,
        swaps=((StoredLedger, "read", _read_eventually), (StoredLedger, "items", _items_eventually)),
    ),
    Bug(
        name="no-fencing",
        what="the executor runs messages that were overtaken",
        breaks=Invariant.ONCE,
        swaps=((executing, "decide_attempt", _no_fencing),),
    ),
    Bug(
        name="no-repair",
        what="a crash between the ledger and the send of a retry is not repaired",
        breaks=Invariant.NOTHING_LOST,
        swaps=((executing, "decide_attempt", _no_repair),),
    ),
    Bug(
        name="retry-send-ignored",
        what="the executor deletes its message though the next attempt was not sent",
        breaks=Invariant.NOTHING_LOST,
        swaps=((execute.Execute, "send", _always_sent),),
    ),
    Bug(
        name="failed-without-body",
        what="the body of a schedule that failed is not stored",
        breaks=Invariant.NOTHING_LOST,
        swaps=((execute.Execute, "fail", _fail_without_body),),
    ),
    Bug(
        name="duplicate-discards-body",
        what="two messages of one schedule both fail, and the second one deletes the body that the first one stored",
        breaks=Invariant.NOTHING_LOST,
        whose="Delayer, until the simulation found it",
        swaps=((dead_letter, "may_need_body", never),),
    ),
    Bug(
        name="gives-up-at-once",
        what="the first attempt that fails is the last",
        breaks=Invariant.ONE_END,
        swaps=((executing, "decide_next", _gives_up_at_once),),
    ),
    Bug(
        name="failure-is-success",
        what="an attempt that the target did not accept counts as executed",
        breaks=Invariant.ONE_END,
        whose="delayer-aws, whose executors only log",
        swaps=((execute.Execute, "reach", _takes_it_for_done),),
    ),
    Bug(
        name="last-token-only",
        what="a message is refused because another was to be sent for its attempt, which may never have happened",
        breaks=Invariant.NOTHING_LOST,
        whose="Delayer, until the simulation found it",
        swaps=((executing, "decide_attempt", _last_token_only),),
    ),
    Bug(
        name="taken-without-a-note",
        what="the first of several messages makes the attempt, and the ledger does not say so",
        breaks=Invariant.ONCE,
        swaps=((executing, "decide_attempt", _take_without_a_note),),
    ),
    Bug(
        name="batch-succeeds-as-a-whole",
        what="an outcome counts as written though its part of the batch was throttled",
        breaks=Invariant.NOTHING_LOST,
        swaps=((execute.Execute, "write", _succeeds_as_a_whole),),
    ),
    Bug(
        name="answers-in-another-order",
        what="the answers of a batch of changes are taken in another order",
        breaks=Invariant.NOTHING_LOST,
        swaps=((StoredLedgerInBatches, "write", _in_another_order),),
    ),
    Bug(
        name="early-attempt",
        what="a message whose attempt is hours away makes it after the 15 minutes that SQS can delay",
        breaks=Invariant.RETRIES,
        swaps=((executing, "decide_later", _whatever_its_row_says), (executing, "not_before", never)),
    ),
    Bug(
        name="early-message-waits",
        what="a message that is too early for its attempt is left in its queue",
        breaks=Invariant.HARMLESS,
        swaps=((execute.Execute, "put_off", _left_in_its_queue),),
    ),
    Bug(
        name="hop-with-its-old-token",
        what="a message that is too early for its attempt is sent once more with the same token",
        breaks=Invariant.ONCE,
        swaps=((execute, "hopped", _hops_with_its_old_token),),
    ),
    Bug(
        name="hop-without-a-trace",
        what="the row does not name the message that sends the one that waits on",
        breaks=Invariant.NOTHING_LOST,
        swaps=((execute, "hopped", _hops_in_secret),),
    ),
    Bug(
        name="hop-is-an-attempt",
        what="each message of a long delay counts as an attempt",
        breaks=Invariant.RETRIES,
        swaps=((execute, "hopped", _hop_is_an_attempt),),
    ),
    Bug(
        name="age-from-the-point-in-time",
        what="the age counts from the point in time, so that an outage uses it up",
        breaks=Invariant.ONE_END,
        swaps=((executing, "age_from", _age_from_the_point_in_time),),
    ),
    Bug(
        name="delay-cut-short",
        what="no delay is longer than what SQS can delay",
        breaks=Invariant.RETRIES,
        whose="Delayer, before ADR 0087",
        swaps=((executing, "retry_seconds", _at_most_a_quarter_of_an_hour),),
    ),
    Bug(
        name="outcome-not-carried",
        what="an attempt whose outcome cannot be written is made again",
        breaks=Invariant.ONCE,
        whose="Delayer, before ADR 0083",
        swaps=((execute.Execute, "carry", _left_in_its_queue),),
    ),
    Bug(
        name="outcome-before-its-attempt",
        what="the outcome is written, and then the attempt is made",
        breaks=Invariant.ONE_END,
        swaps=((execute.Execute, "attempt", _written_first),),
    ),
    Bug(
        name="attempt-before-its-take",
        what="of several messages for an attempt, each makes it before the ledger says that it was taken",
        breaks=Invariant.ONCE,
        swaps=((execute.Execute, "take", _taken_later),),
    ),
    Bug(
        name="last-of-an-executors-batch-forgotten",
        what="the last message of a batch is deleted with the others, and nothing was done about it",
        breaks=Invariant.NOTHING_LOST,
        swaps=((execute.Execute, "__call__", _but_the_last),),
    ),
    Bug(
        name="later-forgets-its-place",
        what="a message that is told to come later loses its place, and is deleted with its batch",
        breaks=Invariant.NOTHING_LOST,
        swaps=((execute.Execute, "go", _deleted_as_it_is_early),),
    ),
)
