"""Every state of two executors that work by batch, breadth first; what is possible at once, and what must hold."""

from typing import Final

from tests.model.batches.rules import REAL, Rules
from tests.model.batches.state import (
    BETWEEN,
    CARRIED,
    CRASH,
    DUPLICATE,
    OVERTAKEN,
    TWIN,
    UNCARRIED,
    Budget,
    World,
    first,
    name_of,
)
from tests.model.batches.steps import steps
from tests.model.search import Found, explore, stuck

WHOLE: Final = {
    "crash, target fails": Budget(crashes=1, failures=1),
    "two crashes": Budget(crashes=2),
    "a message in two batches": Budget(deliveries=1),
    "a message in three batches, target fails": Budget(deliveries=2, failures=1, is_alone=True),
    "a message in two batches, crash, target fails": Budget(deliveries=1, crashes=1, failures=1, is_alone=True),
    "claimed again, crash": Budget(claims=1, crashes=1, is_alone=True),
    "claimed again, target fails": Budget(claims=1, failures=1, is_alone=True),
    "claimed again, beside another": Budget(claims=1),
    "cancelled, crash": Budget(cancels=1, is_claimed=False, is_early=True, crashes=1),
    "stopped, a message in two batches": Budget(stops=1, halves=1, failures=1, is_alone=True, deliveries=1),
    "stopped, beside another": Budget(stops=1, halves=1),
    "too early, stopped, target fails": Budget(stops=1, is_early=True, failures=1),
    "a slow target": Budget(slow=1, failures=1),
    "a slow target, a message in two batches": Budget(slow=1, deliveries=1),
    "outcomes unwritten": Budget(unwritten=1, unanswered=1),
    "outcomes unwritten, target fails": Budget(unwritten=1, failures=1),
    "outcomes unwritten, a message in two batches": Budget(unwritten=1, deliveries=1, failures=1, is_alone=True),
    "a send unanswered, target fails": Budget(unanswered=1, failures=1),
    "two sends unanswered, target fails": Budget(unanswered=2, failures=1, is_alone=True),
    "one seat, crash": Budget(seats=1, crashes=1, failures=1),
    "one seat, cannot be begun, stopped": Budget(seats=1, not_now=1, stops=1),
    "one seat, a message in two batches": Budget(seats=1, deliveries=1),
    "a circuit, target fails": Budget(circuit="over", failures=2),
    "a circuit, a message in two batches": Budget(circuit="named", deliveries=1, not_now=1),
    "a circuit, put off": Budget(circuit="over", closures=1, failures=1),
    "a circuit, a copy is put off": Budget(circuit="named", closures=1, deliveries=1, failures=1, is_alone=True),
    "a circuit, crash, cannot be begun": Budget(circuit="named", crashes=1, not_now=1),
    "a circuit, stopped": Budget(circuit="named", stops=1, not_now=1, deliveries=1, is_alone=True),
}
REMAINING: Final = {  # why an attempt may be made once more, and cannot be prevented; where it is found
    CRASH: Budget(crashes=1),
    DUPLICATE: Budget(deliveries=1),
    OVERTAKEN: Budget(claims=1),
    TWIN: Budget(unanswered=1, failures=1, is_alone=True),
    CARRIED: Budget(unwritten=1, unanswered=1),
    UNCARRIED: Budget(unwritten=1, unanswered=1),
    BETWEEN: Budget(deliveries=1),
}
BY_CHANCE: Final = ("dies", "not answered", "delivers", "fails", "owner", "again", "cannot be", "slow", "not sent")


def broken(world: World) -> str:
    """What is wrong; empty if nothing is."""
    return world.broken or _lost(world) or _unseated(world) or _kept(world)


def _lost(world: World) -> str:
    there = {name_of(message) for message in (*world.messages, *world.handing)} | world.copies
    for name, row in world.rows:
        if not row.ended and name not in there:
            return f"no message of {name} is left"
    return ""


def _unseated(world: World) -> str:
    for one in world.environments:
        if sum(item.seat and item.at == "attempting" for item in one.items) > one.seats:
            return "a seat is given back that an attempt uses"
    return ""


def _kept(world: World) -> str:
    """A probe that an executor holds is in somebody's hands, as long as nobody has died."""
    held_by = world.circuit.held_by if world.circuit else ""
    if not held_by or world.has_died or any(held_by == item.receipt for item in world.all_items()):
        return ""
    return "a probe is kept that nobody makes"


def search(budget: Budget, rules: Rules = REAL) -> Found[World]:
    """Visits every state, and then asks of each whether all comes to its end if nothing more goes wrong."""
    seen: dict[World, list[World]] = {}

    def following(world: World) -> list[tuple[str, World]]:
        found = list(steps(world, rules))
        seen[world] = [after for label, after in found if not _is_by_chance(label)]
        return found

    found = explore(first(budget), lambda world: iter(following(world)), broken, lambda _: "")
    if found.wrong or not (stays := stuck(seen, _is_done)):
        return found
    way = explore(
        first(budget), lambda world: steps(world, rules), lambda world: "stays" if world in stays else "", lambda _: ""
    ).way
    return Found(states=found.states, steps=found.steps, wrong="a message never comes to its end", way=way)


def _is_by_chance(label: str) -> bool:
    return any(what in label for what in BY_CHANCE) and "read again" not in label


def _is_done(world: World) -> bool:
    return world.is_done and all(row.ended for _, row in world.rows)


def remaining(what: str) -> Found[World]:
    """The shortest way to what cannot be prevented."""
    return explore(
        first(REMAINING[what]),
        lambda world: steps(world, REAL),
        lambda world: what if what in world.repeated else "",
        lambda _: "",
    )
