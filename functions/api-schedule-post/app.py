"""POST /schedules: one call, one schedule."""

from delayer.accept import routes as schedules
from delayer.accept.rules.request import KeyReused
from delayer.accept.rules.status import NameTaken
from delayer.accept.use_cases.accept import Accept, Accepted
from delayer.connections.routes import hinted
from delayer.http.answers import Response, key_reused
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-post")
accept = build(Accept, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    body = request.body
    match accept(body, owner, request.key()):
        case Accepted(schedule_id=schedule_id, point_in_time=point_in_time):
            return hinted(schedules.created(schedule_id, point_in_time), body)
        case NameTaken(schedule_id):
            return schedules.name_taken(schedule_id)
        case KeyReused():
            return key_reused()
