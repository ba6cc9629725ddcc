"""What delayer-relay does, one effect at a time; in the order of use_cases/relay.py."""

from collections.abc import Iterator

from attrs import evolve

from delayer.core import relaying
from delayer.core.ledger import Claim, ComeBack, LedgerRow, first_claim
from delayer.core.lifecycle import State
from delayer.core.wire import to_executor
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
                yield f"the relay finds {nonce} too old", _bury(world, run)
            else:
                yield f"the relay holds {nonce}", _move(world, run, at="held" if rules.hold_first else "claiming")
        case "held":
            if world.time >= DUE - LEAD:
                at = "claiming" if rules.hold_first else "handing over"
                yield f"the relay has held {nonce}", _move(world, run, at=at)
        case "claiming":
            yield from _claim(world, rules, run)
        case "handing over":
            message = to_executor(run.copy.message, run.delivery)
            after = evolve(
                _move(world, run, at="settling"),
                handed=world.handed | {message},
                open=world.open | {message},
                hand_overs=tuple(sorted((*world.hand_overs, (run.copy.name, nonce)))),
            )
            yield f"the relay hands over {nonce} as {run.delivery}", after
        case "settling":
            yield f"{nonce} is deleted", _settle(world, run)


def _claim(world: World, rules: Rules, run: Relay) -> Iterator[Step]:
    """One compare-and-set; if another row stands than was seen, the decision is made anew."""
    delivery = f"d{_revision(run.seen) + 1}"  # no other row has this revision
    wanted = first_claim(run.copy.message, delivery, run.claims_at or world.time, LEASE)
    verdict, nonce = rules.claim(wanted, run.seen), run.copy.nonce
    standing = world.row(run.copy.name)
    if isinstance(verdict, ComeBack):
        back = evolve(world, relays=world.relays - {run}, free=world.free | {run.copy})
        yield f"the relay of {nonce} finds a lease running: it comes back", back
    elif not isinstance(verdict, Claim):
        yield f"the relay refuses {nonce}", _settle(world, run)
    elif _revision(standing) != _revision(run.seen):
        yield f"the relay of {nonce} finds another row", _move(world, run, seen=standing, claims_at=wanted.at)
    else:
        at = "handing over" if rules.hold_first else "held"
        after = _move(world, run, at=at, delivery=delivery, seen=None, claims_at=0).with_row(run.copy.name, verdict.row)
        yield f"the relay claims {nonce} for {delivery}", evolve(after, broken=_wrong_claim(world, standing))


def _wrong_claim(world: World, standing: LedgerRow | None) -> str:
    if world.time < DUE - LEAD:
        return "it is claimed, and cannot be cancelled any more, before its lead has begun"
    if standing and standing.state is State.CLAIMED and world.time < standing.lease_until:
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


def _bury(world: World, run: Relay) -> World:
    settled = _settle(world, run)
    return evolve(settled, dead=settled.dead | {Copy(run.copy.name, run.copy.nonce)})
