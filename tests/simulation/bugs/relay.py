"""Bugs of delayer-relay."""

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from delayer.dead_letters.dead_letter import undeliverable
from delayer.flow.rules.gate import Go
from delayer.ledger.model import LedgerRow, Refuse, State
from delayer.ledger.rules import Claim, Verdict, decide_claim
from delayer.recovery.guard import message_in
from delayer.relay import relay
from delayer.relay import rules as relaying
from delayer.schedule import misfire
from delayer.schedule.instants import SECOND, Millis
from tests.simulation.bugs.bug import NEVER_HELD, Bug
from tests.simulation.oracle.invariant import Invariant

_decide_claim = decide_claim
_send = relay.Relay.send
_hand_over = relay.Relay.hand_over
_first_attempt = relay.first_attempt
_read = relay.Relay.read


def _never_held(message: Any, now: Millis, action_types: Any, lead: Any = None) -> Any:
    return Go(message=message, at=message.schedule.point_in_time)


def _at_once(held: Any, lead: Millis) -> tuple[Millis, list[str]]:
    return 0, list(held)


def _any_copy_may_claim(claim: Claim, current: LedgerRow | None) -> Verdict:
    return _decide_claim(claim, evolve(current, nonce=claim.message.nonce) if current else None)


def _no_lease(claim: Claim, current: LedgerRow | None) -> Verdict:
    return _decide_claim(claim, evolve(current, lease_until=0) if current else None)


def _claim_for_good(claim: Claim, current: LedgerRow | None) -> Verdict:
    if current and current.state is State.CLAIMED:
        return Refuse("claimed")
    return _decide_claim(claim, current)


def _claim_over_ends(claim: Claim, current: LedgerRow | None) -> Verdict:
    return _decide_claim(claim, evolve(current, state=State.SCHEDULED) if current and current.ended else current)


def _attempts_forgotten(claim: Claim, current: LedgerRow | None) -> Verdict:
    return _decide_claim(claim, evolve(current, retry_of="") if current else None)


def _ignores_failures(self: Any, action_type: str, claimed: Any) -> list[str]:
    _send(self, action_type, claimed)
    return []


def _come_back_is_done(self: Any, ready: Any) -> list[str]:
    _hand_over(self, ready)
    return []


def _hand_over_first(self: Any, ready: Any) -> list[str]:
    handed = {key: _first_attempt(one.message, self.new_token()) for key, one in ready.items()}
    failed = _send(self, "http-request", handed)
    self.claim(ready)
    return failed


def _claim_by_message_id(self: Any, ready: Mapping[str, relaying.Ready]) -> list[str]:
    renamed = {key: evolve(one, message=evolve(one.message, nonce=key)) for key, one in ready.items()}
    return _hand_over(self, renamed)


def _drops_what_is_late(on_late: str, point_in_time: Millis, now: Millis) -> Any:
    return misfire.Drop("late") if now - point_in_time > 2 * SECOND else None


def _poison(self: Any, body: str, now: Millis) -> Any:
    decision = _read(self, body, now)
    if isinstance(decision, relaying.WaitForExecutor):
        return undeliverable(body, decision.reason, message_in(body))
    return decision


def _without_payload(message: Any, fence: str) -> Any:
    handed = _first_attempt(message, fence)
    schedule = handed.schedule
    return evolve(handed, schedule=evolve(schedule, definition=evolve(schedule.definition, payload="")))


BUGS = (
    Bug(
        name="floored-delay",
        what="the delay is rounded down, and nothing waits for the rest of the time",
        breaks=Invariant.CANCEL_TRUTH,
        whose="cdk-scheduler",
        swaps=((relaying, "next_group", _at_once), *NEVER_HELD),
    ),
    Bug(
        name="never-sent-again",
        what="a message that is minutes early is not sent back; it is claimed, and the executor holds it",
        breaks=Invariant.CANCEL_TRUTH,
        swaps=((relaying, "decide", _never_held), (relaying, "next_group", _at_once)),
    ),
    Bug(
        name="any-copy-claims",
        what="the nonce is not compared: any copy may claim when the lease has lapsed",
        breaks=Invariant.ONCE,
        swaps=((relay, "decide_claim", _any_copy_may_claim),),
    ),
    Bug(
        name="claim-by-message-id",
        what="the claim goes by the message id of SQS, which changes on redrive",
        breaks=Invariant.NOTHING_LOST,
        swaps=((relay.Relay, "hand_over", _claim_by_message_id),),
    ),
    Bug(
        name="no-lease",
        what="a claim can be repeated while its function is still at work",
        breaks=Invariant.ONCE,
        swaps=((relay, "decide_claim", _no_lease),),
    ),
    Bug(
        name="claim-for-good",
        what="a claim is never repeated: a crash before the hand-over leaves it stuck",
        breaks=Invariant.NOTHING_LOST,
        whose="Dynein's ACQUIRED, without its recovery",
        swaps=((relay, "decide_claim", _claim_for_good),),
    ),
    Bug(
        name="claim-over-ends",
        what="the relay does not check whether there is an outcome",
        breaks=Invariant.LEGAL,
        swaps=((relay, "decide_claim", _claim_over_ends),),
    ),
    Bug(
        name="attempts-forgotten",
        what="a message that comes back may claim again after attempts were made",
        breaks=Invariant.ONCE,
        swaps=((relay, "decide_claim", _attempts_forgotten),),
    ),
    Bug(
        name="hand-over-first",
        what="the relay hands over, and claims afterwards",
        breaks=Invariant.CANCEL_TRUTH,
        swaps=((relay.Relay, "hand_over", _hand_over_first),),
    ),
    Bug(
        name="hand-over-failures-ignored",
        what="the relay ignores `Failed[]` of a hand-over",
        breaks=Invariant.NOTHING_LOST,
        whose="delayer-aws",
        swaps=((relay.Relay, "send", _ignores_failures),),
    ),
    Bug(
        name="retry-later-is-done",
        what="a message whose lease still runs is deleted instead of being left in the queue",
        breaks=Invariant.NOTHING_LOST,
        swaps=((relay.Relay, "hand_over", _come_back_is_done),),
    ),
    Bug(
        name="late-dropped",
        what="the relay drops what is two seconds late, although no rule asks for it",
        breaks=Invariant.ONE_END,
        whose="delayer-aws, in the function before the relay",
        swaps=((relaying, "decide_misfire", _drops_what_is_late),),
    ),
    Bug(
        name="payload-lost",
        what="the hand-over leaves out the payload",
        breaks=Invariant.NOTHING_LOST,
        swaps=((relay, "first_attempt", _without_payload),),
    ),
    Bug(
        name="exception-is-poison",
        what="an exception of the relay's own makes a dead letter of the message that it was handling",
        breaks=Invariant.NOBODY_NEEDED,
        whose="Delayer, before ADR 0081",
        swaps=((relay.Relay, "read", _poison),),
    ),
)
