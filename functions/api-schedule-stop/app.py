"""POST /schedules/{id}/stop: no further attempt of a claimed schedule starts."""

from delayer.accept import routes as schedules
from delayer.accept.use_cases.cancel import Stop, Stopped
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-stop")
stop = build(Stop, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    match stop(request.parameter("id"), owner, request.caller.arn):
        case Stopped(row):
            return schedules.stopping(row)
        case refusal:
            return schedules.refused(refusal)
