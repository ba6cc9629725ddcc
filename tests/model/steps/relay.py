"""What delayer-relay does, one effect at a time; in the order of relay/relay.py."""

from collections.abc import Iterator

from delayer.enqueue.rules import MoveToDeadLetters
from delayer.ledger.model import LedgerChange, LedgerRow, RetryLater, State
from delayer.ledger.rules import Claim
from delayer.relay.relay import first_attempt
from delayer.schedule.instants import MAX_HOLD
from tests.model.rules import Rules
from tests.model.state import (
    DUE,
    OLD,
    SCHEDULES,
    Copy,
    GivingUp,
    Relay,
    World,
    evolve,
    in_order,
    label_of,
    last_before,
)
from tests.world import LEAD, LEASE

Step = tuple[str, World]
ACTION_TYPES = frozenset(schedule.definition.action_type for schedule in SCHEDULES.values())  # each has an executor


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """Whatever may happen next to a message of the delayer queue."""
    for copy in in_order(world.free):
        if world.time >= DUE - MAX_HOLD:
            yield _receive(evolve(world, free=world.free - {copy}), rules, copy)
            if world.budget.waits:
                yield _lets_wait(evolve(world, free=world.free - {copy}).spend("waits"), copy)
    for run in in_order(world.relays):
        yield from _next(world, rules, run)
        if world.budget.crashes:
            yield f"the relay of {run.copy.nonce} dies, {run.at}", _leave(world.spend("crashes"), run)


def _receive(world: World, rules: Rules, copy: Copy) -> Step:
    """What it decides at once depends on nobody else."""
    if isinstance(rules.relay(copy.message, world.time, ACTION_TYPES), MoveToDeadLetters):
        letter = GivingUp(message=copy, at="waiting", is_suspect=False)
        return f"a relay finds {copy.nonce} too old", evolve(world, giving_up=world.giving_up | {letter})
    at = "held" if rules.hold_first else "claiming"
    run = Relay(copy=copy, at=at, until=last_before(world.time + LEASE))
    return f"a relay receives {copy.nonce}, and holds it", evolve(world, relays=world.relays | {run})


def _lets_wait(world: World, copy: Copy) -> Step:
    """Its gate is closed: it waits unclaimed, and so another message takes its place."""
    run = Relay(copy=copy, at="waiting", until=last_before(world.time + LEASE))
    return f"a relay makes wait {label_of(copy)}", evolve(world, relays=world.relays | {run})


def _send_again(world: World, run: Relay) -> Iterator[Step]:
    """What is not known to be sent comes back itself; then there are two with one nonce."""
    nonce = label_of(run.copy)
    sent = world.send_again(run.copy)
    yield f"{nonce} is sent again", _move(sent, run, at="settling")
    if world.budget.unanswered:
        yield f"{nonce} is sent again, and reported as not sent", _leave(sent.spend("unanswered"), run)
        yield f"{nonce} cannot be sent again", _leave(world.spend("unanswered"), run)


def _next(world: World, rules: Rules, run: Relay) -> Iterator[Step]:
    nonce = label_of(run.copy)
    match run.at:
        case "held":
            if world.time >= DUE - LEAD:
                at = "claiming" if rules.hold_first else "handing over"
                yield f"the relay has held {nonce}", _move(world, run, at=at)
        case "waiting":
            yield from _send_again(world, run)
        case "claiming":
            yield from _claim(world, rules, run)
        case "handing over":
            yield from _hand_over(world, run)
        case "settling":
            yield f"{nonce} is deleted", _settle(world, run)


def _hand_over(world: World, run: Relay) -> Iterator[Step]:
    """What is not known to be sent comes back, and is claimed again with a fresh token."""
    nonce = run.copy.nonce
    sent = evolve(
        world.put(first_attempt(run.copy.message, run.fence)),
        hand_overs=world.hand_overs | {(run.copy.name, nonce)},
    )
    if world.revoked and run.copy.name == OLD:
        sent = evolve(sent, broken="old is handed over after it was cancelled or replaced")
    yield f"the relay hands over {nonce} as {run.fence}", _move(sent, run, at="settling")
    if world.budget.unanswered:
        yield f"{run.fence} is handed over, and reported as not sent", _leave(sent.spend("unanswered"), run)
        yield f"{run.fence} cannot be handed over", _leave(world.spend("unanswered"), run)


def _claim(world: World, rules: Rules, run: Relay) -> Iterator[Step]:
    """One compare-and-set; if the current row is not the one that was seen, it decides again."""
    fence = f"d{_revision(run.seen) + 1}"  # no other row has this revision
    claim = Claim(message=run.copy.message, fence=fence, now=run.claims_at or world.time, lease=LEASE)
    verdict, nonce = rules.claim(claim, run.seen), run.copy.nonce
    current = world.row(run.copy.name)
    if isinstance(verdict, RetryLater):
        yield f"the relay of {nonce} finds a lease running: it comes back", _leave(world, run)
    elif not isinstance(verdict, LedgerChange):
        yield f"the relay refuses {nonce}", _settle(world, run)
    elif _revision(current) != _revision(run.seen):
        yield f"the relay of {nonce} finds another row", _move(world, run, seen=current, claims_at=claim.now)
    else:
        at = "handing over" if rules.hold_first else "held"
        claimed = world.with_row(run.copy.name, verdict.row)
        after = _move(claimed, run, at=at, fence=fence, seen=None, claims_at=0)
        yield f"the relay claims {nonce} for {fence}", evolve(after, broken=_wrong_claim(world, current))


def _wrong_claim(world: World, current: LedgerRow | None) -> str:
    if world.time < DUE - LEAD:
        return "it is claimed, and cannot be cancelled any more, before its lead has begun"
    if current and current.state is State.CLAIMED and world.time < current.lease_until:
        return "it is claimed again while the first relay may still be at it"
    return world.broken


def _revision(row: LedgerRow | None) -> int:
    return row.revision if row else 0


def _move(world: World, run: Relay, **changes: object) -> World:
    return evolve(world, relays=world.relays - {run} | {evolve(run, **changes)})


def _leave(world: World, run: Relay) -> World:
    """It is not deleted, and comes back."""
    return evolve(world, relays=world.relays - {run}).give_back(run.copy)


def _settle(world: World, run: Relay) -> World:
    """Deleted, also if the same message is in other hands as well."""
    return evolve(world, relays=world.relays - {run}).delete(run.copy)
