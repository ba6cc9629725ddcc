"""Every state of one circuit, breadth first; what is possible at once, and what must hold."""

from typing import Final

from tests.model.circuit.state import Budget, World, first
from tests.model.circuit.steps import REAL, Rules, steps
from tests.model.search import Found, explore, stuck

WHOLE: Final = {
    "crash": Budget(failures=3, crashes=1),
    "answer lost": Budget(failures=3, lost=1),
    "closed by command": Budget(failures=4, commands=1),
    "closed by command, crash": Budget(failures=3, commands=1, crashes=1),
    "nothing fails": Budget(failures=0, crashes=2, environments=3),
}


def broken(world: World) -> str:
    """What is wrong; empty if nothing is."""
    return world.broken


def search(budget: Budget, rules: Rules = REAL) -> Found[World]:
    """Visits every state, and then asks of each whether the circuit can be closed by a probe alone."""
    seen: dict[World, list[World]] = {}

    def following(world: World) -> list[tuple[str, World]]:
        found = list(steps(world, rules))
        seen[world] = [after for label, after in found if not label.startswith("an operator")]
        return found

    found = explore(first(budget), lambda world: iter(following(world)), broken, lambda world: "")
    if found.wrong or not (stays := stuck(seen, lambda world: world.row is None)):
        return found
    way = explore(
        first(budget), lambda world: steps(world, rules), lambda world: "stays" if world in stays else "", lambda _: ""
    ).way
    return Found(states=found.states, steps=found.steps, wrong="the circuit stays for ever", way=way)


def remaining(what: str) -> Found[World]:
    """The shortest way to what cannot be prevented."""
    budget = Budget(failures=5, crashes=0)
    return explore(
        first(budget), lambda world: steps(world, REAL), lambda one: what if what in one.repeated else "", lambda _: ""
    )
