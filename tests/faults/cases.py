"""Every fault at every call of one function, over one scenario."""

from collections.abc import Callable, Iterator

from tests.fakes.faults import Fault, FaultPlan
from tests.world import World

Scenario = Callable[[World], None]

OFTEN = 12  # the same call comes back with every tick of the clock; the first dozen are all that differ


def every_fault(function: str, scenario: Scenario, **options: object) -> Iterator[tuple[str, World]]:
    """Runs the scenario once without a fault to count the calls, then once for each fault at each call."""
    calls = spoiled(function, scenario, FaultPlan(), **options).plan.seen
    assert calls, f"the scenario never gets to {function}"
    for at, name in enumerate(calls):
        if calls[:at].count(name) >= OFTEN:
            continue
        for fault in Fault:
            world = spoiled(function, scenario, FaultPlan(fault, at), **options)
            yield f"{fault} at call {at}, {name}", world


def spoiled(function: str, scenario: Scenario, plan: FaultPlan, **options: object) -> World:
    """The world after the scenario."""
    world = World(spoiled=function, plan=plan, **options)  # type: ignore[arg-type] # options are World's own
    scenario(world)
    return world
