"""The actions of other stacks: invokes their functions."""

from typing import Any

from delayer.actions.describe import Describe
from delayer.actions.rules.invocation import QUESTION
from delayer.targets.remote import RemoteTarget
from delayer.wiring.build import build
from delayer.wiring.environment import Environment
from delayer.wiring.executor import handler_of

ports = Environment("executor-remote")
actions = ports.actions
describe = build(Describe, ports)
target = RemoteTarget(
    registration=actions.registration, registration_now=actions.registration_now, function_at=ports.function_at
)
execute = handler_of(ports, target, actions=actions)


@ports.observer.observed
def described(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Asks a function for the description of its action."""
    return describe(event["function"])


def handler(event: dict[str, Any], context: object) -> Any:
    """One invocation: a batch of the queue, or a question of deploy-action-registrar."""
    return described(event, context) if QUESTION in event else execute(event, context)
