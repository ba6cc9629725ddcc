"""GET /schedules/{id} and GET /schedules/by-name/{name}: where it is, and what became of it."""

from delayer.accept import routes as schedules
from delayer.accept.rules.status import Status
from delayer.accept.use_cases.lookup import Lookup
from delayer.http.answers import Response, response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-get")
lookup = build(Lookup, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    name = request.name()
    match lookup.by_name(name, owner) if name else lookup.by_id(request.parameter("id"), owner):
        case Status() as status:
            return response(200, schedules.shown(status))
        case refusal:
            return schedules.refused(refusal)
