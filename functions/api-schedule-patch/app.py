"""PATCH /schedules/{id}: another point in time, another payload, or both, in a new schedule that takes its place."""

from typing import Any

from delayer.aws.http import problems, requests, responses
from delayer.core.api.admission import admit_change
from delayer.core.api.cancellation import Expired, MayBeRunning, NotFound, TooLate
from delayer.core.series.series import Refused
from delayer.use_cases.api.replace import Masked, OnItsWay, Replaced
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-patch")
owner_of = requests.owner_reader()
replace = use_cases.replace(ports, use_cases.occurrences(ports))


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, schedule_id = owner_of(event), requests.parameter(event, "id")
    change = admit_change(requests.body_of(event), ports.clock.now())
    time, payload, by = change.point_in_time, change.payload, requests.caller_of(event)
    match replace.by_id(schedule_id, owner, point_in_time=time, payload=payload, by=by):
        case Replaced(schedule=schedule):
            return responses.replaced(schedule, schedule_id)
        case TooLate(row):
            return problems.too_late(row)
        case MayBeRunning(row=row, wait=wait):
            return problems.may_be_running(row, wait)
        case OnItsWay() | Masked() | Refused() as impossible:
            return _because(impossible)
        case Expired():
            return problems.expired()
        case NotFound():
            return problems.not_found()


def _because(impossible: OnItsWay | Masked | Refused) -> responses.Response:
    match impossible:
        case OnItsWay(soon):
            return problems.on_its_way(soon=soon)
        case Masked():
            return problems.masked()
        case Refused(reason):
            return problems.series_refuses(reason)
