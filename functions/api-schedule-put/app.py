"""PUT /schedules/by-name/{name}: creates the schedule of that name, or replaces it."""

from typing import Any

from delayer.aws.http import problems, requests, responses
from delayer.aws.http.connections import hinted
from delayer.core.api.admission import admit_named
from delayer.core.api.cancellation import MayBeRunning, NameTaken, TooLate
from delayer.use_cases.api.replace import Replaced
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-put")
owner_of = requests.owner_reader()
replace = use_cases.replace(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, name = owner_of(event), requests.parameter(event, "name")
    body = requests.body_of(event)
    request = admit_named(body, name, ports.clock.now(), ports.actions)
    only_new, by = requests.creates_only(event), requests.caller_of(event)
    match replace.by_name(request, owner, name, only_new=only_new, by=by):
        case Replaced(schedule=schedule, previous=previous):
            return hinted(responses.put(schedule, previous), body)
        case NameTaken(schedule_id):
            return problems.name_exists(schedule_id)
        case TooLate(row):
            return problems.too_late(row)
        case MayBeRunning(row=row, wait=wait):
            return problems.may_be_running(row, wait)
