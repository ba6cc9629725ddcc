"""Custom resources: an action type is registered when a stack is deployed; who calls the API is kept, and checked."""

from typing import Any

from delayer.actions.describe import DescribedByRemote
from delayer.actions.register import Register
from delayer.actions.rules.foreign import built_in
from delayer.lambdas.custom_resource import settle
from delayer.owners.callers import Callers
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("deploy-action-registrar")
register = build(Register, ports, built_in=built_in(), describe=build(DescribedByRemote, ports))
do = build(Callers, ports, otherwise=register)


@ports.observer.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return settle(event, do, ports.observer)
