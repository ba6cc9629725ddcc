"""Custom resources: an action type is registered when a stack is deployed; who calls the API is kept, and checked."""

from typing import Any

from delayer.aws.deployment.custom_resource import settle
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("deploy-action-registrar")
do = use_cases.callers(ports, use_cases.register(ports))


@ports.observer.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return settle(event, do, ports.observer)
