"""All that may happen: relay, client, SQS, time; what an environment does with its batch is in `batch.py`."""

from collections.abc import Iterator

from delayer.ledger.model import LedgerChange, Refuse, State
from delayer.relay.relay import first_attempt
from tests.model.batches import batch
from tests.model.batches.deciding import is_early
from tests.model.batches.rules import Rules
from tests.model.batches.state import (
    SCHEDULES,
    World,
    claim_of,
    copy_of,
    in_order,
    label_of,
    name_of,
)
from tests.model.state import evolve
from tests.samples import OWNER

Step = tuple[str, World]
FIRST = "a"  # the schedule that its owner stops or cancels


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """All that may happen next. The environments are alike: which is the first makes no other world."""
    for number in range(len(world.environments)):
        for label, after in batch.steps(world, rules, number):
            yield label, _alike(after)
    for label, after in _others(world, rules):
        yield label, _alike(after)


def _alike(world: World) -> World:
    one, other = world.environments
    return world if batch.key(one) <= batch.key(other) else evolve(world, environments=(other, one))


def _others(world: World, rules: Rules) -> Iterator[Step]:
    yield from _relays(world, rules)
    yield from _delivers(world)
    yield from _client(world, rules)
    yield from _time(world, rules)


def _relays(world: World, rules: Rules) -> Iterator[Step]:
    for name in sorted(world.copies):
        if not any(name_of(message) == name for message in world.handing):
            yield from _claims(world, rules, name)
    for message in world.handing:
        name, left = name_of(message), tuple(one for one in world.handing if one != message)
        handed = evolve(world.put(message), handing=left, copies=world.copies - {name})
        yield f"{message.fence} is handed over", handed if rules.claims_first else _claimed_late(handed, name)


def _delivers(world: World) -> Iterator[Step]:
    if world.budget.deliveries:
        for message in in_order(tuple(world.messages)):
            again = evolve(world.spend("deliveries"), open=in_order((*world.open, message)))
            yield f"SQS delivers {label_of(message)} again", evolve(again, twice=again.twice | {message.fence})


def _time(world: World, rules: Rules) -> Iterator[Step]:
    """It passes by itself only where somebody waits for it."""
    if world.circuit and world.circuit.until:
        yield "the pause of the circuit is over", evolve(world, circuit=evolve(world.circuit, until=0))
    if world.circuit and world.circuit.probe and world.has_died and not _is_held(world):
        lapsed = evolve(world.circuit, probe="", probe_until=0, held_by="", revision=world.circuit.revision + 1)
        yield "the minute of a probe is over", evolve(world, circuit=lapsed)
    if world.dead_seats and world.has_died:
        yield "the term of the seats is over", evolve(world, dead_seats=0, orphans=0)
    waits = any(is_early(world, rules, item) for item in world.all_items())
    if world.budget.halves or waits:
        yield "half a second passes", evolve(world if waits else world.spend("halves"), now=world.now + 1)


def _is_held(world: World) -> bool:
    """Whether somebody goes on with the probe."""
    return any(f"n{name_of(item.message)}" == (world.circuit and world.circuit.probe) for item in world.all_items())


def _claims(world: World, rules: Rules, name: str) -> Iterator[Step]:
    """A relay does, the first time, or once more after the lease of a crash."""
    row = world.row(name)
    if row is not None and row.state is State.CLAIMED and not world.budget.claims:
        yield f"the copy of {name} is deleted", evolve(world, copies=world.copies - {name})
        return
    fence = f"{name}{row.revision + 1 if row else 1}"
    if not rules.claims_first and row is None:
        yield f"a relay begins with {name}", evolve(world, handing=(first_attempt(copy_of(name), fence),))
        return
    match rules.claim(claim_of(name, fence, world.time), row):
        case LedgerChange(row=claimed) if claimed.state is State.CLAIMED:
            after = world if row is None else world.spend("claims")
            handing = (*world.handing, first_attempt(copy_of(name), fence))
            label = f"a relay claims {name}" if row is None else f"a relay claims again {name}"
            yield label, _checked(evolve(after.with_row(name, claimed), handing=handing), name)
        case LedgerChange() | Refuse():
            yield f"a relay refuses {name}", evolve(world, copies=world.copies - {name})


def _claimed_late(world: World, name: str) -> World:
    """The claim comes after the hand-over; it is another copy that does it, as its relay died."""
    return evolve(world, copies=world.copies | {name}, budget=evolve(world.budget, claims=world.budget.claims + 1))


def _checked(world: World, name: str) -> World:
    if name == FIRST and world.is_revoked:
        return evolve(world, broken="what was cancelled is claimed")
    return world


def _client(world: World, rules: Rules) -> Iterator[Step]:
    row, schedule = world.row(FIRST), SCHEDULES[FIRST]
    if world.budget.stops:
        match rules.stop(schedule.id, OWNER, row, world.time):
            case LedgerChange(row=stopped):
                after = world.spend("stops").with_row(FIRST, stopped)
                yield f"its owner stops {FIRST}", evolve(after, stopped_at=world.now)
    if world.budget.cancels:
        match rules.cancel(schedule.id, OWNER, row, world.time):
            case LedgerChange(row=cancelled):
                after = world.spend("cancels").with_row(FIRST, cancelled)
                yield f"its owner cancels {FIRST}", evolve(after, is_revoked=True)
