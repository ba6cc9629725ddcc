"""POST /schedules: one call, one schedule."""

from typing import Any

from delayer.aws.http import problems, requests, responses, schedules
from delayer.aws.http.connections import hinted
from delayer.core.api.cancellation import NameTaken
from delayer.core.api.request import KeyReused
from delayer.use_cases.api.accept import Accepted
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-post")
owner_of = requests.owner_reader()
accept = use_cases.accept(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner = owner_of(event)
    body = requests.body_of(event)
    match accept(body, owner, requests.key_of(event)):
        case Accepted(schedule_id=schedule_id, point_in_time=point_in_time):
            return hinted(schedules.created(schedule_id, point_in_time), body)
        case NameTaken(schedule_id):
            return schedules.name_taken(schedule_id)
        case KeyReused():
            return problems.key_reused()
