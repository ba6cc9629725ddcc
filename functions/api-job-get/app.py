"""GET /jobs/{id}: how far the cancelling of a group has come."""

from typing import Any

from delayer.aws import api_wiring
from delayer.aws.http import answers, problems, requests
from delayer.aws.telemetry import Telemetry
from delayer.use_cases.cancel_group import LookAtJob

telemetry = Telemetry("api-job-get")
look = LookAtJob(jobs=api_wiring.jobs())


@telemetry.observed
@problems.answers_problems(telemetry)
def handler(event: dict[str, Any], _context: object) -> answers.Answer:
    """One invocation."""
    job = look(requests.parameter(event, "id"), requests.owner_of(event))
    return answers.answer(200, answers.shown_job(job)) if job else problems.no_job()
