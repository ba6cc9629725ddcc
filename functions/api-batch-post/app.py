"""POST /schedules/batch: up to a hundred schedules in one call, each with its own result."""

from typing import Any

from delayer.aws import creating
from delayer.aws.http import answers, problems, requests
from delayer.aws.runtime import Threads
from delayer.aws.telemetry import Telemetry
from delayer.core.admission import admit_batch
from delayer.core.withdrawing import NameTaken
from delayer.use_cases.accept import Accepted

telemetry = Telemetry("api-batch-post")
parallel = Threads()
accept = creating.accept(telemetry)


@telemetry.observed
@problems.answers_problems(telemetry)
def handler(event: dict[str, Any], _context: object) -> answers.Answer:
    """One invocation."""
    owner, bodies = requests.owner_of(event), admit_batch(requests.body_of(event))
    return answers.results(parallel.map(lambda body: problems.answered(telemetry, lambda: one(body, owner)), bodies))


def one(body: bytes, owner: str) -> answers.Answer:
    """One of them, answered as a POST of its own."""
    match accept(body, owner):
        case Accepted(schedule_id, point_in_time):
            return answers.created(schedule_id, point_in_time)
        case NameTaken(schedule_id):
            return problems.name_taken(schedule_id)
    return problems.key_reused()
