"""GET /jobs/{id}: how far the cancelling of a group has come."""

from delayer.http.answers import Response, response
from delayer.http.requests import ApiRequest
from delayer.jobs import routes as jobs
from delayer.jobs.use_cases import GetJob
from delayer.lambdas.api import behind_the_api
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-job-get")
get_job = build(GetJob, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    job = get_job(request.parameter("id"), owner)
    return response(200, jobs.shown_job(job)) if job else jobs.no_job()
