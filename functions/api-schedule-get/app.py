"""GET /schedules/{id} and GET /schedules/by-name/{name}: where it is, and what became of it."""

from typing import Any

from delayer.aws.http import problems, requests, responses, schedules
from delayer.core.api.cancellation import Expired, NotFound
from delayer.core.api.status import Status
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-get")
owner_of = requests.owner_reader()
lookup = use_cases.lookup(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, name = owner_of(event), requests.name_of(event)
    match lookup.by_name(name, owner) if name else lookup.by_id(requests.parameter(event, "id"), owner):
        case Status() as status:
            return responses.response(200, schedules.shown(status))
        case Expired():
            return schedules.expired()
        case NotFound():
            return schedules.not_found()
