"""GET /jobs/{id}: how far the cancelling of a group has come."""

from typing import Any

from delayer.aws.http import jobs, problems, requests, responses
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-job-get")
owner_of = requests.owner_reader()
get_job = use_cases.get_job(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    job = get_job(requests.parameter(event, "id"), owner_of(event))
    return responses.response(200, jobs.shown_job(job)) if job else jobs.no_job()
