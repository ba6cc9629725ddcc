"""DELETE /schedules?group=: begins to cancel a whole group."""

from typing import Any

from delayer.aws.http import jobs, problems, requests, responses
from delayer.core.api.listing import admit_group
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-group-delete")
owner_of = requests.owner_reader()
begin = use_cases.begin_cancel_group(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner = owner_of(event)
    return jobs.job_started(begin(admit_group(requests.query(event)), owner, requests.caller_of(event)))
