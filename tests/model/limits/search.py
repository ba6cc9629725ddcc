"""Every state of one line, breadth first; what is possible at once, and what must hold."""

from typing import Final

from tests.model.limits.state import TICK, Budget, World, first
from tests.model.limits.steps import REAL, Rules, steps
from tests.model.search import Found, explore, stuck

WHOLE: Final = {
    "attempts fail": Budget(failures=1),
    "crash": Budget(crashes=1),
    "answers lost": Budget(lost=1),
    "delivered twice": Budget(messages=2, duplicates=1, crashes=1),
    "the limit is changed": Budget(messages=2, changes=1, crashes=1),
    "one cannot wait for long": Budget(waits=3 * TICK, crashes=1),
}
BY_CHANCE: Final = ("dies", "not told", "fails", "twice", "operator")


def broken(world: World) -> str:
    """What is wrong; empty if nothing is."""
    return world.broken


def search(budget: Budget, rules: Rules = REAL) -> Found[World]:
    """Visits every state, and then asks of each whether all are attempted in the end if nothing more goes wrong."""
    seen: dict[World, list[World]] = {}

    def following(world: World) -> list[tuple[str, World]]:
        found = list(steps(world, rules))
        seen[world] = [after for label, after in found if not any(what in label for what in BY_CHANCE)]
        return found

    found = explore(first(budget), lambda world: iter(following(world)), broken, lambda _: "")
    if found.wrong or not (stays := stuck(seen, lambda world: not world.copies)):
        return found
    way = explore(
        first(budget), lambda world: steps(world, rules), lambda world: "stays" if world in stays else "", lambda _: ""
    ).way
    return Found(states=found.states, steps=found.steps, wrong="a message is never attempted", way=way)
