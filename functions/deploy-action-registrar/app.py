"""Registers an action type when a stack is deployed, and takes it out when it is deleted: a custom resource."""

from typing import Any

from delayer.aws.events.custom_resource import settle
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("deploy-action-registrar")


@ports.observer.observed
def handler(event: dict[str, Any], _context: object) -> None:
    """One invocation. It is wired within `settle`: CloudFormation gets an answer also if that fails."""
    settle(event, lambda command: use_cases.register(ports)(command), ports.observer)
