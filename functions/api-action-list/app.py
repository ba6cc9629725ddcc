"""GET /actions: the action types, with their schemas."""

from typing import Any

from delayer.aws.http import actions, problems, requests, responses
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-action-list")
owner_of = requests.owner_reader()
list_actions = use_cases.list_actions(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner_of(event)  # refuses a caller that is not known
    return actions.actions(list_actions())
