"""POST /schedules: one call, one schedule."""

from typing import Any

from delayer.aws import creating
from delayer.aws.http import answers, problems, requests
from delayer.aws.telemetry import Telemetry
from delayer.core.withdrawing import NameTaken
from delayer.use_cases.accept import Accepted, KeyReused

telemetry = Telemetry("api-schedule-post")
accept = creating.accept(telemetry)


@telemetry.observed
@problems.answers_problems(telemetry)
def handler(event: dict[str, Any], _context: object) -> answers.Answer:
    """One invocation."""
    owner = requests.owner_of(event)
    match accept(requests.body_of(event), owner, requests.key_of(event)):
        case Accepted(schedule_id, point_in_time):
            return answers.created(schedule_id, point_in_time)
        case NameTaken(schedule_id):
            return problems.name_taken(schedule_id)
        case KeyReused():
            return problems.key_reused()
