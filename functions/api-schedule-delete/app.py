"""DELETE /schedules/{id} and DELETE /schedules/by-name/{name}: cancels, and answers whether it will fire."""

from delayer.accept import routes as schedules
from delayer.accept.use_cases.cancel import Cancel, Cancelled
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.wiring import use_cases
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-delete")
cancel = build(Cancel, ports, occurrences=use_cases.occurrences(ports))


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    name, by = request.name(), request.caller.arn
    match cancel.by_name(name, owner, by) if name else cancel(request.parameter("id"), owner, by=by):
        case Cancelled(row):
            return schedules.ended(row, "" if name else request.parameter("id"))
        case refusal:
            return schedules.refused(refusal)
