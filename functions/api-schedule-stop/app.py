"""POST /schedules/{id}/stop: no further attempt of a claimed schedule starts."""

from typing import Any

from delayer.aws.http import problems, requests, responses, schedules
from delayer.core.api.cancellation import Expired, NotFound, TooEarly, TooLate
from delayer.use_cases.api.stop import Stopped
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-stop")
owner_of = requests.owner_reader()
stop = use_cases.stop(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    match stop(requests.parameter(event, "id"), owner_of(event), requests.caller_of(event)):
        case Stopped(row):
            return schedules.stopping(row)
        case TooEarly():
            return schedules.too_early()
        case TooLate(row):
            return schedules.too_late(row)
        case Expired():
            return schedules.expired()
        case NotFound():
            return schedules.not_found()
