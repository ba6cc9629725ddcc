"""The handlers of functions/, each loaded as Lambda would, on the fakes of a world instead of on AWS."""

import importlib.util
import os
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from attrs import define, frozen

from delayer.fakes import MemoryObserver
from tests.cfn import ROOT
from tests.world import FunctionPorts, World

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]


@define
class Observed(MemoryObserver):
    """Stands in for Telemetry."""

    def observed(self, handler: Handler) -> Handler:
        return handler


@frozen
class HandlerPorts(FunctionPorts):
    """The bundle of one handler."""

    @property
    def observer(self) -> MemoryObserver:
        return self.world.observer


def world_of_handlers(**settings: Any) -> World:
    """A world whose observer the handlers can use."""
    world = World(**settings)
    world.observer = Observed()
    world.build()
    return world


def handler_of(world: World, function: str, authorization: str = "NONE") -> Handler:
    """The handler of the function of this name."""
    path = ROOT / f"functions/{function}/app.py"
    spec = importlib.util.spec_from_file_location(f"app_of_{function.replace('-', '_')}", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    with (
        patch("delayer.wiring.environment.Environment", lambda name: HandlerPorts(world, name)),
        patch("delayer.aws.runtime.telemetry.Telemetry", lambda name: world.observer),
        patch.dict(os.environ, {"API_AUTHORIZATION": authorization}),
    ):
        spec.loader.exec_module(module)
    return lambda event, context: module.handler(from_here(event), context)


def from_here(event: dict[str, Any]) -> dict[str, Any]:
    """The event with the address that it came from: an open API answers no other machine."""
    context = event.get("requestContext", {})
    return {**event, "requestContext": {**context, "http": {"sourceIp": "127.0.0.1", **context.get("http", {})}}}
