"""Visits every state of one call that the client repeats, within the bound."""

from typing import Final

from tests.model.repeats.rules import REAL, Rules
from tests.model.repeats.state import Budget, World
from tests.model.repeats.steps import first, steps
from tests.model.search import Found, explore

WHOLE: Final = {
    "cancel: a namesake and one in its place": Budget(route="cancel"),
    "cancel: two namesakes": Budget(route="cancel", namesakes=2, replaced=0),
    "cancel by name, without a look": Budget(route="by name"),
    "pause: somebody resumes": Budget(route="pause", turned_back=2),
}


def broken(world: World) -> str:
    """What is wrong; empty if nothing is."""
    return world.broken


def search(budget: Budget, rules: Rules = REAL, limit: int = 10**9) -> Found[World]:
    """Ends at the first state that is wrong, or after `limit` states."""
    return explore(first(budget), lambda world: steps(world, rules), broken, lambda world: "", limit)
