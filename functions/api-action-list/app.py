"""GET /actions: the action types, with their schemas."""

from delayer.actions import routes as actions
from delayer.actions.registered import ListActions
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-action-list")
list_actions = build(ListActions, ports)


@behind_the_api(ports.observer)
def handler(_request: ApiRequest, _owner: str) -> Response:
    """One call."""
    return actions.actions(list_actions())
