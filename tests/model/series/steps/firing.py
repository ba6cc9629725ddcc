"""What becomes of what was put: relay, executor, and those who give up."""

from collections.abc import Iterator

from delayer.ledger.model import EventType, LedgerChange, State
from delayer.ledger.rules import Claim, ended, ended_unclaimed
from delayer.schedule.messages import DelayerMessage
from tests.model.series.rules import Rules
from tests.model.series.state import NAME_OF, SCHEDULES, Occurrence, World
from tests.model.state import evolve
from tests.samples import LEASE, OWNER

Moved = tuple[str, World]


def steps(world: World, rules: Rules) -> Iterator[Moved]:
    """Each may be claimed at any time, as long as no end is written."""
    for one in world.occurrences:
        name, row = NAME_OF[one.id], world.row(one.id)
        if world.waits(one.id):
            yield from _claim(world, rules, one)
            if world.budget.given_up:
                end = (
                    ended(row, State.DEAD_LETTERED, world.now)
                    if row
                    else ended_unclaimed(one.id, OWNER, State.DEAD_LETTERED, world.now, "")
                )
                yield (
                    f"{name} is given up before its claim",
                    world.spend("given_up").with_row(end, EventType.DEAD_LETTERED),
                )
        elif row and row.state is State.CLAIMED:
            if world.budget.ends:
                done = ended(row, State.EXECUTED, world.now)
                yield f"{name} is executed", world.spend("ends").with_row(done, EventType.EXECUTED)
            if world.budget.failures:
                yield (
                    f"{name} fails",
                    world.spend("failures").with_row(ended(row, State.FAILED, world.now), EventType.FAILED),
                )


def _claim(world: World, rules: Rules, one: Occurrence) -> Iterator[Moved]:
    row = world.row(one.id)
    message = DelayerMessage(schedule=SCHEDULES[one.id], nonce=row.nonce if row and row.nonce else "n")
    verdict = rules.claim(Claim(message=message, fence="", now=world.now, lease=LEASE), row)
    if not isinstance(verdict, LedgerChange):
        return
    after = world.with_row(verdict.row, EventType.CLAIMED)
    if world.promised:
        after = evolve(after, broken=f"occurrence {one.number} is claimed after a pause or a DELETE was answered")
    twins = [two for two in world.occurrences if two.at == one.at and _counts(two) and two.id in world.claimed]
    if twins and _counts(one):
        after = evolve(after, broken="one time is claimed twice")
    claimed = after.claimed if one.id in after.claimed else (*after.claimed, one.id)
    yield f"{NAME_OF[one.id]} is claimed (occurrence {one.number})", evolve(after, claimed=claimed)


def _counts(one: Occurrence) -> bool:
    return one.is_fill or not one.is_beside
