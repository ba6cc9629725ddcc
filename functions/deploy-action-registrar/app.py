"""Registers an action type when a stack is deployed, and takes it out when it is deleted: a custom resource."""

from typing import Any

from delayer.aws.deployment.custom_resource import settle
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("deploy-action-registrar")
register = use_cases.register(ports)


@ports.observer.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, str]:
    """One invocation."""
    return settle(event, register, ports.observer)
