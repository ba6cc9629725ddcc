"""Breadth first through all states, so that what is found is found by the shortest way."""

import gc
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

from attrs import frozen

from tests.model.properties import broken, broken_at_last
from tests.model.rules import REAL, Rules
from tests.model.state import OLD, Budget, World
from tests.model.steps import executor, others, relay

Wrong = Callable[[World], str]
Moment = TypeVar("Moment", bound=Hashable)  # a world, of this model or of another


@frozen(kw_only=True)
class Found(Generic[Moment]):
    """What a search came to."""

    states: int
    steps: int
    wrong: str = ""  # empty: nothing, in the whole space
    way: tuple[tuple[str, Moment], ...] = ()  # the steps that lead there


Searched = Found[World]


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
    return explore(first, lambda world: successors(world, rules), wrong, at_last, limit)


def explore(
    first: Moment,
    following: Callable[[Moment], Iterator[tuple[str, Moment]]],
    wrong: Callable[[Moment], str],
    at_last: Callable[[Moment], str],
    limit: int = 10**9,
) -> Found[Moment]:
    """The same for the worlds of any model.

    The collector of garbage would look at all of them again and again, and find nothing: none refers to itself.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return _explore(first, following, wrong, at_last, limit)
    finally:
        if was_enabled:
            gc.enable()


def _explore(
    first: Moment,
    following: Callable[[Moment], Iterator[tuple[str, Moment]]],
    wrong: Callable[[Moment], str],
    at_last: Callable[[Moment], str],
    limit: int,
) -> Found[Moment]:
    came: dict[Moment, tuple[str, Moment] | None] = {first: None}
    waiting, steps = deque([first]), 0
    while waiting and len(came) < limit:
        world = waiting.popleft()
        ends = True
        for label, after in following(world):
            steps, ends = steps + 1, False
            if after not in came:
                came[after] = (label, world)
                if what := wrong(after):
                    return Found(states=len(came), steps=steps, wrong=what, way=_way(came, after))
                waiting.append(after)
        if ends and (what := at_last(world)):
            return Found(states=len(came), steps=steps, wrong=what, way=_way(came, world))
    return Found(states=len(came), steps=steps)


def _way(came: dict[Moment, tuple[str, Moment] | None], world: Moment) -> tuple[tuple[str, Moment], ...]:
    """From the first state to this one."""
    way: list[tuple[str, Moment]] = []
    at: Moment | None = world
    while at is not None and (before := came[at]):
        way.append((before[0], at))
        at = before[1]
    return tuple(reversed(way))


def stuck(seen: Mapping[Moment, Sequence[Moment]], is_done: Callable[[Moment], bool]) -> set[Moment]:
    """From where the end cannot be reached. `seen` are the worlds that may follow each."""
    before: dict[Moment, list[Moment]] = defaultdict(list)
    for world, after in seen.items():
        for one in after:
            before[one].append(world)
    done = {world for world in seen if is_done(world)}
    waiting = deque(done)
    while waiting:
        for one in before[waiting.popleft()]:
            if one not in done:
                done.add(one)
                waiting.append(one)
    return set(seen) - done
