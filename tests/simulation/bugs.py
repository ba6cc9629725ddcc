"""Deliberate bugs: the defects of the schedulers before this one, and the guards of this one taken out.

A simulation that finds nothing proves nothing until it is shown to find what is there. Each bug is switched in on its
own, and has to be found.
"""

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from typing import Any
from unittest.mock import patch

from attrs import evolve, field, frozen

from delayer.core import enqueueing, executing, late, ledger, relaying, sweeping, wire, withdrawing
from delayer.core.instants import MINUTE, SECOND, Millis, minute_of
from delayer.core.ledger import LedgerRow
from delayer.core.lifecycle import State
from delayer.core.wire import to_delayer
from delayer.ports import Unavailable
from delayer.use_cases import cancel, enqueue, execute, operate, relay, replace, set_aside, sweep
from tests.simulation.watch import WatchedLedger

Swap = tuple[Any, str, Any]  # where, what, by what


@frozen(kw_only=True)
class Bug:
    """One defect."""

    name: str
    what: str  # what it does, for the table
    whose: str = ""  # the published scheduler that has it
    swaps: tuple[Swap, ...] = field(repr=False)

    def switched_in(self) -> ExitStack:
        """As long as the context lasts, the code has this bug."""
        stack = ExitStack()
        for where, name, instead in self.swaps:
            stack.enter_context(patch.object(where, name, instead))
        return stack


# ---------------------------------------------------------------- stream-enqueuer


def _only_the_future(change: enqueueing.Change, now: Millis, period: Millis) -> enqueueing.Decision:
    decision = _decide_change(change, now, period)
    if isinstance(decision, enqueueing.Send | enqueueing.Delete) and decision.schedule.point_in_time < now:
        return enqueueing.Ignore()
    return decision


_decide_change = enqueueing.decide
_send_removed = enqueue.Enqueue._send
_enqueue_call = enqueue.Enqueue.__call__


def _send_ignoring_failures(self: Any, removed: Any) -> list[str]:
    _send_removed(self, removed)
    return []


def _swallow_errors(self: Any, changes: Any) -> list[str]:
    with suppress(Exception):
        _enqueue_call(self, changes)
    return []


def _fire_any_removal(schedule: Any, row: Any) -> enqueueing.Decision:
    return enqueueing.Send(schedule, enqueueing.MAX_DELAY_SECONDS)


def _forget_far_removals(schedule: Any, row: Any) -> enqueueing.Decision:
    return enqueueing.Ignore()


def _choke_on_garbage(change: enqueueing.Change, now: Millis, period: Millis) -> enqueueing.Decision:
    if isinstance(change.row, enqueueing.Garbled):
        raise Unavailable("it cannot be read")
    return _decide_change(change, now, period)


# ---------------------------------------------------------------- task-1minute-enqueuer


def _one_minute_only(progress: sweeping.Progress, now: Millis, period: Millis) -> sweeping.Plan:
    return sweeping.Plan((enqueueing.edge_of(now, period),), whole=False)


def _never(*_: Any) -> bool:
    return False


def _always_sent(self: Any, message: Any, delay: int) -> bool:
    _execute_send(self, message, delay)
    return True


_execute_send = execute.Execute._send


def _sweep_one_shard(self: Any, shards: sweeping.Shards, began: Millis) -> None:
    _sweep(self, evolve(shards, highest=0), began)


_sweep = sweep.Tick._sweep


def _nonce_of_the_event(schedule: Any, nonce: str) -> Any:
    return to_delayer(schedule, f"event-{schedule.id}")


def _closable_at_once(minute: int, query_began: Millis) -> bool:
    return minute <= minute_of(query_began + 14 * MINUTE)


def _deleted_is_empty(parts: Sequence[bool]) -> bool:
    return True


def _close_what_comes(self: Any, watermark: int, shards: Any, began: Millis, whole: bool) -> sweep.Closing:
    return sweep.Closing(enqueueing.edge_of(began, self.period) + 2, sweep.Swept(), finished=True)


def _nothing_near(progress: sweeping.Progress, now: Millis, period: Millis) -> sweeping.Plan:
    return sweeping.Plan((), whole=False)


def _skip_big_buckets(self: Any, bucket: Any) -> sweep.Look:
    try:
        page = self.schedules.page(bucket)
    except Unavailable:
        return sweep.Look(failed=True)
    return sweep.Look() if page.more else sweep.Look(keys=page.keys, empty=not page.keys)


# ---------------------------------------------------------------- delayer-relay


def _never_held(message: Any, now: Millis) -> Any:
    return relaying.Hold()


def _at_once(held: Any, lead: Millis) -> relaying.Group:
    return relaying.Group(0, tuple(held))


def _no_wait(message: Any, now: Millis) -> None:
    return None


_decide_claim = ledger.decide_claim


def _any_copy_may_claim(wanted: LedgerRow, standing: LedgerRow | None) -> ledger.Verdict:
    return _decide_claim(wanted, evolve(standing, nonce=wanted.nonce) if standing else None)


def _no_lease(wanted: LedgerRow, standing: LedgerRow | None) -> ledger.Verdict:
    return _decide_claim(wanted, evolve(standing, lease_until=0) if standing else None)


def _claim_for_good(wanted: LedgerRow, standing: LedgerRow | None) -> ledger.Verdict:
    if standing and standing.state is State.CLAIMED:
        return ledger.Refuse("claimed")
    return _decide_claim(wanted, standing)


def _claim_over_ends(wanted: LedgerRow, standing: LedgerRow | None) -> ledger.Verdict:
    return _decide_claim(wanted, evolve(standing, state=State.SCHEDULED) if standing and standing.ended else standing)


def _attempts_forgotten(wanted: LedgerRow, standing: LedgerRow | None) -> ledger.Verdict:
    return _decide_claim(wanted, evolve(standing, retry_of="") if standing else None)


_relay_send = relay.Relay._send
_relay_hand_over = relay.Relay._hand_over


def _relay_ignores_failures(self: Any, kind: str, mine: Any) -> list[str]:
    _relay_send(self, kind, mine)
    return []


def _come_back_is_done(self: Any, ready: Any) -> list[str]:
    _relay_hand_over(self, ready)
    return []


def _hand_over_first(self: Any, ready: Any) -> list[str]:
    fresh = [(one, self.new_nonce()) for one in ready]
    failed = _relay_send(self, "http-request", fresh)
    self.parallel.map(self._claim, ready)
    return failed


def _claim_by_message_id(self: Any, ready: Sequence[relay.Held]) -> list[str]:
    renamed = [relay.Held(one.delivery, evolve(one.message, nonce=one.delivery.message_id)) for one in ready]
    return _relay_hand_over(self, renamed)


# ---------------------------------------------------------------- executor


def _no_outcome_check(message: Any, row: LedgerRow | None) -> Any:
    return executing.Attempt()


def _no_fencing(message: Any, row: LedgerRow | None) -> Any:
    verdict = _decide_attempt(message, row)
    return executing.Attempt() if isinstance(verdict, ledger.Refuse) and row and not row.ended else verdict


_decide_attempt = executing.decide_attempt


def _no_repair(message: Any, row: LedgerRow | None) -> Any:
    verdict = _decide_attempt(message, row)
    return ledger.Refuse("already retried") if isinstance(verdict, executing.SendNext) else verdict


def _fail_without_body(self: Any, message: Any, row: LedgerRow, reason: str) -> bool:
    self._end(message, row, State.FAILED, reason)
    return True


# ---------------------------------------------------------------- cancel, set aside


_cancel_call = cancel.Cancel.__call__


def _cancel_unmarked(self: Any, schedule_id: str, owner: str) -> Any:
    """Deletes the record, as if that were all."""
    self._delete(schedule_id)
    row = ledger.first_end(schedule_id, owner, State.CANCELLED, self.clock.now(), "")
    return cancel.Cancelled(row)


def _cancel_over_claims(schedule_id: str, owner: str, standing: LedgerRow | None, now: Millis, detail: str) -> Any:
    if standing and standing.state is State.CLAIMED:
        return withdrawing.Withdraw(ledger.ended(standing, State.CANCELLED, now, detail), standing)
    return _decide_cancel(schedule_id, owner, standing, now, detail)


_decide_cancel = withdrawing.decide_cancel


def _mark_before_body(self: Any, copy: Any) -> None:
    if copy.schedule_id:
        self._mark(copy)
    _keep(self, copy)


_keep = set_aside.SetAside.keep


def _always_too_old(*_: Any) -> Any:
    return withdrawing.Expired()


def _always_on_its_way(self: Any, schedule_id: str, owner: str, **_: Any) -> Any:
    return replace.OnItsWay(soon=False)


def _old_one_lives_on(exchange: Any, verdict: Any) -> Any:
    return exchange


# ---------------------------------------------------------------- reasons


def _drops_what_is_late(on_late: str, point_in_time: Millis, now: Millis) -> Any:
    return late.Drop("late") if now - point_in_time > 2 * SECOND else None


def _gives_up_at_once(message: Any, result: Any, max_attempts: int) -> Any:
    return executing.GiveUp(result.detail)


def _takes_it_for_done(self: Any, message: Any) -> Any:
    return executing.Done(_reach(self, message).detail)


_reach = execute.Execute._reach


def _without_payload(message: Any, delivery: str) -> Any:
    return evolve(_to_executor(message, delivery), payload="")


_to_executor = wire.to_executor


def _put_back_is_done_with(self: Any, message: Any) -> Any:
    """The body of what is claimed is deleted."""
    told, row = _put_back(self, message)
    return ({**told, "settled": True}, row) if "it is claimed" in told["outcome"] else (told, row)


_put_back = operate.Operate._put_back


BUGS: tuple[Bug, ...] = (
    Bug(
        name="overdue-filtered",
        what="the enqueuer leaves out what is overdue (`pit >= now`)",
        whose="delayer-aws",
        swaps=((enqueueing, "decide", _only_the_future),),
    ),
    Bug(
        name="failed-ignored",
        what="the enqueuer ignores `Failed[]` of a batch sent to SQS",
        whose="delayer-aws",
        swaps=((enqueue.Enqueue, "_send", _send_ignoring_failures),),
    ),
    Bug(
        name="stream-errors-swallowed",
        what="the enqueuer logs an error, and reports success to the stream",
        whose="delayer-aws",
        swaps=((enqueue.Enqueue, "__call__", _swallow_errors),),
    ),
    Bug(
        name="any-removal-fires",
        what="a record deleted by hand long before its time fires",
        whose="delayer-aws",
        swaps=((enqueueing, "decide_far_removal", _fire_any_removal), (executing, "decide_wait", _no_wait)),
    ),
    Bug(
        name="far-removal-forgotten",
        what="a record deleted by hand long before its time is forgotten",
        swaps=((enqueueing, "decide_far_removal", _forget_far_removals),),
    ),
    Bug(
        name="poison-blocks-shard",
        what="a record that cannot be read makes the handler fail, again and again",
        whose="delayer-aws",
        swaps=((enqueueing, "decide", _choke_on_garbage),),
    ),
    Bug(
        name="one-minute-only",
        what="each tick queries exactly one minute, and nothing catches up",
        whose="bahrmichael",
        swaps=((sweeping, "plan", _one_minute_only), (sweeping, "may_close", _never)),
    ),
    Bug(
        name="watermark-too-soon",
        what="the watermark is moved as far as the sweep looks ahead",
        swaps=((sweep.Tick, "_close", _close_what_comes),),
    ),
    Bug(
        name="deleted-is-empty",
        what="each minute is swept once, and closed whatever was left (`UnprocessedItems` ignored)",
        whose="delayer-aws",
        swaps=(
            (sweeping, "plan", _nothing_near),
            (sweeping, "all_empty", _deleted_is_empty),
            (sweeping, "may_close", _closable_at_once),
        ),
    ),
    Bug(
        name="big-bucket-skipped",
        what="a bucket of more than one page is not handed on",
        swaps=((sweep.Tick, "_look", _skip_big_buckets),),
    ),
    Bug(
        name="own-shards",
        what="the sweep looks into its own idea of the shards, not into the control row",
        swaps=((sweep.Tick, "_sweep", _sweep_one_shard),),
    ),
    Bug(
        name="floored-delay",
        what="the delay is rounded down, and nothing waits out the rest",
        whose="cdk-scheduler",
        swaps=((relaying, "next_group", _at_once), (executing, "decide_wait", _no_wait)),
    ),
    Bug(
        name="never-sent-again",
        what="what is minutes early is not sent back, but claimed and held by the executor",
        swaps=((relaying, "decide", _never_held), (relaying, "next_group", _at_once)),
    ),
    Bug(
        name="any-copy-claims",
        what="the nonce is not looked at: any copy may claim when the lease has lapsed",
        swaps=((relay, "decide_claim", _any_copy_may_claim),),
    ),
    Bug(
        name="stream-event-nonce",
        what="the nonce is the stream's event id: both sends of a repeated record bear it",
        swaps=((enqueue, "to_delayer", _nonce_of_the_event),),
    ),
    Bug(
        name="claim-by-message-id",
        what="the claim goes by the message id of SQS, which changes on redrive",
        swaps=((relay.Relay, "_hand_over", _claim_by_message_id),),
    ),
    Bug(
        name="no-lease",
        what="a claim can be repeated while its function is still at work",
        swaps=((relay, "decide_claim", _no_lease),),
    ),
    Bug(
        name="claim-for-good",
        what="a claim is never repeated: a crash before the hand-over leaves it stuck",
        whose="Dynein's ACQUIRED, without its recovery",
        swaps=((relay, "decide_claim", _claim_for_good),),
    ),
    Bug(
        name="claim-over-ends",
        what="the relay does not look at the outcome",
        swaps=((relay, "decide_claim", _claim_over_ends),),
    ),
    Bug(
        name="attempts-forgotten",
        what="a message that comes back may claim again after attempts were made",
        swaps=((relay, "decide_claim", _attempts_forgotten),),
    ),
    Bug(
        name="hand-over-first",
        what="the relay hands over, and claims afterwards",
        swaps=((relay.Relay, "_hand_over", _hand_over_first),),
    ),
    Bug(
        name="hand-over-failures-ignored",
        what="the relay ignores `Failed[]` of a hand-over",
        whose="delayer-aws",
        swaps=((relay.Relay, "_send", _relay_ignores_failures),),
    ),
    Bug(
        name="come-back-is-done",
        what="a message whose lease is running is deleted, not left to come back",
        swaps=((relay.Relay, "_hand_over", _come_back_is_done),),
    ),
    Bug(
        name="no-outcome-check",
        what="the executor does not read the ledger",
        swaps=((executing, "decide_attempt", _no_outcome_check),),
    ),
    Bug(
        name="eventual-reads",
        what="the ledger is read without `ConsistentRead`",
        swaps=((WatchedLedger, "read", WatchedLedger.read_eventually),),
    ),
    Bug(
        name="no-fencing",
        what="the executor makes attempts that were overtaken",
        swaps=((executing, "decide_attempt", _no_fencing),),
    ),
    Bug(
        name="no-repair",
        what="a crash between the ledger and the send of a retry is not repaired",
        swaps=((executing, "decide_attempt", _no_repair),),
    ),
    Bug(
        name="retry-send-ignored",
        what="the executor deletes its message though the next attempt was not sent",
        swaps=((execute.Execute, "_send", _always_sent),),
    ),
    Bug(
        name="failed-without-body",
        what="a schedule that failed is not kept",
        swaps=((execute.Execute, "_fail", _fail_without_body),),
    ),
    Bug(
        name="twin-discards-body",
        what="of two deliveries that both fail, the second throws away what the first kept",
        whose="this one, until the simulation found it",
        swaps=((execute, "may_need_body", _never),),
    ),
    Bug(
        name="mark-before-body",
        what="the ledger says `set-aside` before the body is kept",
        swaps=((set_aside.SetAside, "keep", _mark_before_body),),
    ),
    Bug(
        name="cancel-unmarked",
        what="a cancel deletes the record and leaves no mark: its removal fires",
        whose="delayer-aws",
        swaps=((cancel.Cancel, "__call__", _cancel_unmarked),),
    ),
    Bug(
        name="cancel-over-claims",
        what="a cancel overwrites a claim",
        swaps=((cancel, "decide_cancel", _cancel_over_claims),),
    ),
    Bug(
        name="cancel-says-too-old",
        what="a cancel is answered 410, whatever is the case",
        swaps=((cancel, "decide_cancel", _always_too_old),),
    ),
    Bug(
        name="change-says-on-its-way",
        what="a change is answered 409, though the record is in the table",
        swaps=((replace.Replace, "by_id", _always_on_its_way),),
    ),
    Bug(
        name="namesake-lives-on",
        what="a replacement does not end the old one",
        swaps=((replace, "_instead", _old_one_lives_on),),
    ),
    Bug(
        name="late-dropped",
        what="the relay drops what is two seconds late, without being asked to",
        whose="delayer-aws, one function earlier",
        swaps=((relaying, "decide_late", _drops_what_is_late),),
    ),
    Bug(
        name="gives-up-at-once",
        what="the first attempt that fails is the last",
        swaps=((executing, "decide_next", _gives_up_at_once),),
    ),
    Bug(
        name="failure-is-success",
        what="an attempt that the target did not take counts as executed",
        whose="delayer-aws, whose executors only log",
        swaps=((execute.Execute, "_reach", _takes_it_for_done),),
    ),
    Bug(
        name="payload-lost",
        what="the hand-over leaves the payload behind",
        swaps=((relay, "to_executor", _without_payload),),
    ),
    Bug(
        name="put-back-deletes-early",
        what="a put-back deletes the body of what is claimed, whose end is about to be written",
        whose="this one, until a review found it",
        swaps=((operate.Operate, "_put_back", _put_back_is_done_with),),
    ),
    Bug(
        name="no-stale-margin",
        what="a copy older than its ledger row fires",
        swaps=tuple((where, "STALE_AFTER", 10**15) for where in (enqueueing, relaying, operate)),
    ),
)

BY_NAME = {bug.name: bug for bug in BUGS}
