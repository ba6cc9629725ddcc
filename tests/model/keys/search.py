"""Visits every state of one idempotency key, within the bound."""

from typing import Final

from tests.model.keys.rules import REAL, Rules
from tests.model.keys.state import Budget, World
from tests.model.keys.steps import first, steps
from tests.model.search import Found, explore

ROUTES: Final = ("PATCH", "PUT", "PUT if none")
FAULTS: Final = {
    "three calls, one dies": {"calls": 3, "crashes": 1},
    "two calls, another body": {"calls": 2, "others": 1, "crashes": 1},
    "two calls, another client": {"calls": 2, "strangers": 1, "crashes": 1},
    "two calls, what they are about ends": {"calls": 2, "ends": 2, "crashes": 1},
    "all but crashes": {"calls": 2, "others": 1, "strangers": 1, "ends": 1},
}
WHOLE: Final = {
    f"{route}: {name}": Budget(route=route, **faults) for route in ROUTES for name, faults in FAULTS.items()
}


def broken(world: World) -> str:
    """What is wrong; empty if nothing is."""
    return world.broken


def search(budget: Budget, rules: Rules = REAL, limit: int = 10**9) -> Found[World]:
    """Ends at the first state that is wrong, or after `limit` states."""
    return explore(first(budget), lambda world: steps(world, rules), broken, lambda world: "", limit)
