"""PUT /schedules/by-name/{name}: creates the schedule of that name, or replaces it."""

from typing import Any

from delayer.aws import creating
from delayer.aws.http import answers, problems, requests
from delayer.aws.runtime import SystemClock
from delayer.aws.telemetry import Telemetry
from delayer.core.admission import admit_named
from delayer.core.withdrawing import NameTaken, TooLate
from delayer.use_cases.replace import Replaced

telemetry = Telemetry("api-schedule-put")
clock = SystemClock()
replace = creating.replace(telemetry)


@telemetry.observed
@problems.answers_problems(telemetry)
def handler(event: dict[str, Any], _context: object) -> answers.Answer:
    """One invocation."""
    owner, name = requests.owner_of(event), requests.parameter(event, "name")
    request = admit_named(requests.body_of(event), name, clock.now())
    match replace.by_name(request, owner, name, only_new=requests.creates_only(event)):
        case Replaced(schedule, previous):
            return answers.put(schedule, previous)
        case NameTaken(schedule_id):
            return problems.name_exists(schedule_id)
        case TooLate(row):
            return problems.too_late(row)
