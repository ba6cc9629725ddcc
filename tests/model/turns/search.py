"""Visits every state of one schedule on one machine, and asks of each whether it can still come to its end."""

from typing import Final

from tests.model.search import Found, explore, stuck
from tests.model.turns.rules import REAL, Rules
from tests.model.turns.state import Budget, World
from tests.model.turns.steps import first, is_over, steps

WHOLE: Final = {
    "no fault": Budget(cancels=True),
    "crashes": Budget(crashes=3, cancels=True),
    "commits that fail": Budget(fails=3, cancels=True),
    "crashes, commits that fail": Budget(crashes=2, fails=2, cancels=True),
}


def search(budget: Budget, rules: Rules = REAL) -> Found[World]:
    """Ends at the first state that is wrong."""
    seen: dict[World, list[World]] = {}

    def following(world: World) -> list[tuple[str, World]]:
        found = list(steps(world, rules))
        seen[world] = [after for _, after in found]
        return found

    found = explore(first(budget), lambda world: iter(following(world)), lambda world: world.broken, lambda _: "")
    if found.wrong or not (stays := stuck(seen, is_over)):
        return found
    way = explore(
        first(budget), lambda world: steps(world, rules), lambda world: "stays" if world in stays else "", lambda _: ""
    ).way
    return Found(states=found.states, steps=found.steps, wrong="a schedule comes to no end", way=way)
