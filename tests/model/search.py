"""Breadth first through all states, so that what is found is found by the shortest way."""

from collections import deque
from collections.abc import Callable, Iterator

from attrs import frozen

from tests.model.properties import broken, broken_at_last
from tests.model.rules import REAL, Rules
from tests.model.state import OLD, Budget, World
from tests.model.steps import executor, others, relay

Wrong = Callable[[World], str]


@frozen(kw_only=True)
class Searched:
    """What a search came to."""

    states: int
    steps: int
    wrong: str = ""  # empty: nothing, in the whole space
    way: tuple[tuple[str, World], ...] = ()  # the steps that lead there


def successors(world: World, rules: Rules) -> Iterator[tuple[str, World]]:
    """All that may happen next."""
    yield from relay.steps(world, rules)
    yield from executor.steps(world, rules)
    yield from others.steps(world, rules)


def search(
    budget: Budget, rules: Rules = REAL, wrong: Wrong = broken, at_last: Wrong = broken_at_last, limit: int = 10**9
) -> Searched:
    """Visits every state, from the record in the table on. Ends at the first that is wrong, or after `limit` states."""
    first = World(budget=budget, table=frozenset({OLD}))
    came: dict[World, tuple[str, World] | None] = {first: None}
    waiting, steps = deque([first]), 0
    while waiting and len(came) < limit:
        world = waiting.popleft()
        ends = True
        for label, following in successors(world, rules):
            steps, ends = steps + 1, False
            if following not in came:
                came[following] = (label, world)
                if what := wrong(following):
                    return Searched(states=len(came), steps=steps, wrong=what, way=_way(came, following))
                waiting.append(following)
        if ends and (what := at_last(world)):
            return Searched(states=len(came), steps=steps, wrong=what, way=_way(came, world))
    return Searched(states=len(came), steps=steps)


def _way(came: dict[World, tuple[str, World] | None], world: World) -> tuple[tuple[str, World], ...]:
    """From the first state to this one."""
    way: list[tuple[str, World]] = []
    at: World | None = world
    while at is not None and (before := came[at]):
        way.append((before[0], at))
        at = before[1]
    return tuple(reversed(way))
