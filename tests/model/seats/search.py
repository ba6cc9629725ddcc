"""Every state of the seats of one limit, breadth first; what is possible at once, and what must hold."""

from typing import Final

from tests.model.search import Found, explore, stuck
from tests.model.seats.state import Budget, World, first
from tests.model.seats.steps import REAL, Rules, steps

WHOLE: Final = {
    "one seat, and a crash": Budget(seats=(1,), crashes=1),
    "two seats, and a crash": Budget(messages=2, crashes=1),
    "two seats for three": Budget(),
    "one seat, an answer is lost, and a crash": Budget(messages=2, seats=(1,), lost=1, crashes=1),
    "an attempt fails": Budget(messages=2, seats=(1,), failures=1, crashes=1),
    "the limit is lowered": Budget(messages=2, seats=(2, 1), crashes=1),
    "the limit is raised": Budget(messages=2, seats=(1, 2), crashes=1),
}
BY_CHANCE: Final = ("dies", "not told", "not written", "fails", "operator")


def search(budget: Budget, rules: Rules = REAL) -> Found[World]:
    """Visits every state, and then asks of each whether all are attempted in the end if nothing more goes wrong."""
    seen: dict[World, list[World]] = {}

    def following(world: World) -> list[tuple[str, World]]:
        found = list(steps(world, rules))
        seen[world] = [after for label, after in found if not any(what in label for what in BY_CHANCE)]
        return found

    found = explore(first(budget), lambda world: iter(following(world)), lambda world: world.broken, lambda _: "")
    if found.wrong or not (stays := stuck(seen, lambda world: world.is_done)):
        return found
    way = explore(
        first(budget), lambda world: steps(world, rules), lambda world: "stays" if world in stays else "", lambda _: ""
    ).way
    return Found(states=found.states, steps=found.steps, wrong="a message is never attempted", way=way)
