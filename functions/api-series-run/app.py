"""POST /series/{seriesId}/run-now and /backfill: occurrences that are due at once."""

from typing import Any

from delayer.aws.http import problems, requests, responses, series, steering
from delayer.core.api.request import KeyReused
from delayer.core.api.series.no_body import admit_no_body
from delayer.core.api.series.steering import admit_backfill
from delayer.core.series.backfill import Range
from delayer.core.series.occurrence import SeriesRefuses
from delayer.core.series.series import NoSeries
from delayer.use_cases.series.steering.run import Began, RunAnswer
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-series-run")
owner_of = requests.owner_reader()
run = use_cases.run_series(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, one, body = owner_of(event), requests.parameter(event, "seriesId"), requests.body_of(event)
    if not requests.route_of(event).endswith("/backfill"):
        admit_no_body(body)
        return _shown(run.now(owner, one, requests.key_of(event)))
    asked = admit_backfill(body, ports.clock.now())
    return _shown(run.backfill(owner, one, asked, body, requests.key_of(event)), asked)


def _shown(answer: RunAnswer, asked: Range | None = None) -> responses.Response:
    match answer:
        case Began(series=one, schedule_id=schedule_id, time=time):
            return steering.backfill(one, schedule_id, time, asked) if asked else steering.run(one, schedule_id, time)
        case KeyReused():
            return problems.key_reused(creates="occurrence")
        case SeriesRefuses(reason):
            return steering.not_possible(reason)
        case NoSeries():
            return series.no_series()
