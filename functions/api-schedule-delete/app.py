"""DELETE /schedules/{id} and DELETE /schedules/by-name/{name}: cancels, and answers whether it will fire."""

from typing import Any

from delayer.aws.http import problems, requests, responses, schedules
from delayer.core.api.cancellation import Expired, MayBeRunning, NotFound, TooLate
from delayer.use_cases.api.cancel import Cancelled
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-delete")
owner_of = requests.owner_reader()
cancel = use_cases.cancel(ports, use_cases.occurrences(ports))


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, name, by = owner_of(event), requests.name_of(event), requests.caller_of(event)
    match cancel.by_name(name, owner, by) if name else cancel(requests.parameter(event, "id"), owner, by=by):
        case Cancelled(row):
            return schedules.ended(row, "" if name else requests.parameter(event, "id"))
        case TooLate(row):
            return schedules.too_late(row)
        case MayBeRunning(row=row, wait=wait):
            return schedules.may_be_running(row, wait)
        case Expired():
            return schedules.expired()
        case NotFound():
            return schedules.not_found()
