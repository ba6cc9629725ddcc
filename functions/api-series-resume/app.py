"""POST /series/{seriesId}/resume: a paused series goes on with a new occurrence."""

from delayer.http.answers import Response
from delayer.http.json_body import admit_no_body
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.series import routes as series
from delayer.series.use_cases.resume import Resume, Resumed
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-series-resume")
resume = build(Resume, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    one, by = request.parameter("seriesId"), request.caller.arn
    admit_no_body(request.body)
    match resume(owner, one, by):
        case Resumed(cursor=cursor, missed=missed):
            return series.resumed(cursor, missed)
        case refusal:
            return series.refused(refusal)
