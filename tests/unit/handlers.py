"""The handlers of functions/, each loaded as Lambda would, on the fakes of a world instead of on AWS."""

from collections.abc import Callable
from typing import Any

from attrs import define

from delayer.engines.memory import MemoryObserver
from delayer.wiring.functions import loaded
from tests.world import World

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]


@define
class Observed(MemoryObserver):
    """Stands in for Telemetry."""


def world_of_handlers(**settings: Any) -> World:
    """A world whose observer the handlers can use."""
    world = World(**settings)
    world.observer = Observed()
    world.build()
    return world


def handler_of(world: World, function: str, authorization: str = "NONE") -> Handler:
    """The handler of the function of this name."""
    handler: Handler = loaded(function, world, {"API_AUTHORIZATION": authorization}).handler
    return lambda event, context: handler(from_here(event), context)


def from_here(event: dict[str, Any]) -> dict[str, Any]:
    """The event with the address that it came from: an open API answers no other machine."""
    context = event.get("requestContext", {})
    return {**event, "requestContext": {**context, "http": {"sourceIp": "127.0.0.1", **context.get("http", {})}}}
