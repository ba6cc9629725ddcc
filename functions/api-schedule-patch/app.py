"""PATCH /schedules/{id}: another point in time, another payload, or both, in a new schedule that takes its place."""

from typing import Any

from delayer.aws import creating
from delayer.aws.http import answers, problems, requests
from delayer.aws.runtime import SystemClock
from delayer.aws.telemetry import Telemetry
from delayer.core.admission import admit_change
from delayer.core.withdrawing import Expired, NotFound, TooLate
from delayer.use_cases.replace import OnItsWay, Replaced

telemetry = Telemetry("api-schedule-patch")
clock = SystemClock()
replace = creating.replace(telemetry)


@telemetry.observed
@problems.answers_problems(telemetry)
def handler(event: dict[str, Any], _context: object) -> answers.Answer:
    """One invocation."""
    owner, schedule_id = requests.owner_of(event), requests.parameter(event, "id")
    change = admit_change(requests.body_of(event), clock.now())
    match replace.by_id(schedule_id, owner, point_in_time=change.point_in_time, payload=change.payload):
        case Replaced(schedule):
            return answers.replaced(schedule, schedule_id)
        case TooLate(row):
            return problems.too_late(row)
        case OnItsWay(soon):
            return problems.on_its_way(soon=soon)
        case Expired():
            return problems.expired()
        case NotFound():
            return problems.not_found()
