"""POST /series/{seriesId}/run-now and /backfill: occurrences that are due at once."""

from delayer.http.answers import Response
from delayer.http.json_body import admit_no_body
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.series import routes as series
from delayer.series.rules.admission import admit_backfill
from delayer.series.rules.backfill import Range
from delayer.series.use_cases.run import Began, RunAnswer, RunSeries
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-series-run")
run = build(RunSeries, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    one, body = request.parameter("seriesId"), request.body
    if not request.route.endswith("/backfill"):
        admit_no_body(body)
        return _shown(run.now(owner, one, request.key()))
    asked = admit_backfill(body, ports.clock.now())
    return _shown(run.backfill(owner, one, asked, body, request.key()), asked)


def _shown(answer: RunAnswer, asked: Range | None = None) -> Response:
    match answer:
        case Began(series=one, schedule_id=schedule_id, time=time):
            return series.backfill(one, schedule_id, time, asked) if asked else series.run(one, schedule_id, time)
        case refusal:
            return series.refused(refusal, creates="occurrence")
