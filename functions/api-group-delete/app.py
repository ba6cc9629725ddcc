"""DELETE /schedules?group=: begins to cancel a whole group."""

from delayer.accept.rules.listing import admit_group
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.jobs import routes as jobs
from delayer.jobs.use_cases import BeginCancelGroup
from delayer.lambdas.api import behind_the_api
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-group-delete")
begin = build(BeginCancelGroup, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    return jobs.job_started(begin(admit_group(request.query), owner, request.caller.arn))
