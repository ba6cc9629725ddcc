"""What delayer-relay does, one effect at a time; in the order of use_cases/firing/relay.py."""

from collections.abc import Iterator

from attrs import evolve

from delayer.core.firing import relaying
from delayer.core.ledger.claim import Claim
from delayer.core.ledger.lifecycle import State
from delayer.core.ledger.row import LedgerChange, LedgerRow, RetryLater
from delayer.use_cases.firing.relay import first_attempt
from tests.model.rules import Rules
from tests.model.state import DUE, Copy, Relay, World, in_order
from tests.world import LEAD, LEASE

Step = tuple[str, World]


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """Whatever may happen next to a message of the delayer queue."""
    for copy in in_order(world.free):
        if world.time >= DUE - relaying.MAX_HOLD:
            run = Relay(copy=copy, at="received", began=world.time)
            yield f"a relay receives {copy.nonce}", evolve(world, free=world.free - {copy}, relays=world.relays | {run})
    for run in in_order(world.relays):
        yield from _next(world, rules, run)
        if world.budget.crashes:
            dead = evolve(world.spend("crashes"), relays=world.relays - {run}, free=world.free | {run.copy})
            yield f"the relay of {run.copy.nonce} dies, {run.at}", evolve(dead, excused=world.excused + 1)


def _next(world: World, rules: Rules, run: Relay) -> Iterator[Step]:
    nonce = run.copy.nonce
    match run.at:
        case "received":
            if isinstance(rules.relay(run.copy.message, world.time), relaying.Stale):
                yield f"the relay finds {nonce} too old", _dead_letter(world, run)
            else:
                yield f"the relay holds {nonce}", _move(world, run, at="held" if rules.hold_first else "claiming")
        case "held":
            if world.time >= DUE - LEAD:
                at = "claiming" if rules.hold_first else "handing over"
                yield f"the relay has held {nonce}", _move(world, run, at=at)
        case "claiming":
            yield from _claim(world, rules, run)
        case "handing over":
            message = first_attempt(run.copy.message, run.fence)
            after = evolve(
                _move(world, run, at="settling"),
                handed=world.handed | {message},
                open=world.open | {message},
                hand_overs=tuple(sorted((*world.hand_overs, (run.copy.name, nonce)))),
            )
            yield f"the relay hands over {nonce} as {run.fence}", after
        case "settling":
            yield f"{nonce} is deleted", _settle(world, run)


def _claim(world: World, rules: Rules, run: Relay) -> Iterator[Step]:
    """One compare-and-set; if the current row is not the one that was seen, it decides again."""
    fence = f"d{_revision(run.seen) + 1}"  # no other row has this revision
    claim = Claim(message=run.copy.message, fence=fence, now=run.claims_at or world.time, lease=LEASE)
    verdict, nonce = rules.claim(claim, run.seen), run.copy.nonce
    current = world.row(run.copy.name)
    if isinstance(verdict, RetryLater):
        back = evolve(world, relays=world.relays - {run}, free=world.free | {run.copy})
        yield f"the relay of {nonce} finds a lease running: it comes back", back
    elif not isinstance(verdict, LedgerChange):
        yield f"the relay refuses {nonce}", _settle(world, run)
    elif _revision(current) != _revision(run.seen):
        yield f"the relay of {nonce} finds another row", _move(world, run, seen=current, claims_at=claim.now)
    else:
        at = "handing over" if rules.hold_first else "held"
        after = _move(world, run, at=at, fence=fence, seen=None, claims_at=0).with_row(run.copy.name, verdict.row)
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
    return evolve(world, relays=world.relays - {run} | {evolve(run, **changes)})  # type: ignore[arg-type]


def _settle(world: World, run: Relay) -> World:
    """Deleted, unless the same message is in other hands as well: then those find it gone, and it is gone."""
    return evolve(
        world,
        relays=world.relays - {run},
        copies=world.copies - {run.copy},
        free=world.free - {run.copy},
    )


def _dead_letter(world: World, run: Relay) -> World:
    settled = _settle(world, run)
    return evolve(settled, dead=settled.dead | {Copy(run.copy.name, run.copy.nonce)})
