"""Visits every state of the messages of one queue, and asks of each whether all can still come to their end."""

from typing import Final

from tests.model.search import Found, explore, stuck
from tests.model.suspects.rules import REAL, Rules
from tests.model.suspects.state import Budget, World
from tests.model.suspects.steps import first, steps

WHOLE: Final = {
    "throttled": Budget(throttled=4, failures=1),
    "throttled, a killer": Budget(killer=True, throttled=2, environments=1),
    "a killer, outages": Budget(killer=True, good=1, failures=1, unread=2),
    "deaths": Budget(good=1, deaths=7, throttled=1),
    "throttled, deaths, outages": Budget(throttled=2, deaths=2, failures=1, unread=1),
}


def broken(world: World) -> str:
    """What is wrong; empty if nothing is."""
    return world.broken


def search(budget: Budget, rules: Rules = REAL) -> Found[World]:
    """Ends at the first state that is wrong."""
    seen: dict[World, list[World]] = {}

    def following(world: World) -> list[tuple[str, World]]:
        found = list(steps(world, rules))
        seen[world] = [after for _, after in found]
        return found

    found = explore(first(budget), lambda world: iter(following(world)), broken, lambda world: "")
    if found.wrong or not (stays := stuck(seen, lambda world: not world.messages)):
        return found
    way = explore(
        first(budget), lambda world: steps(world, rules), lambda world: "stays" if world in stays else "", lambda _: ""
    ).way
    return Found(states=found.states, steps=found.steps, wrong="a message comes to no end", way=way)
