"""POST /series/{seriesId}/resume: a paused series goes on with a new occurrence."""

from typing import Any

from delayer.aws.http import problems, requests, responses, series, steering
from delayer.core.api.series.no_body import admit_no_body
from delayer.core.series.occurrence import SeriesRefuses
from delayer.core.series.series import NoSeries
from delayer.use_cases.series.halt import MayStillRun
from delayer.use_cases.series.steering.resume import Resumed
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-series-resume")
owner_of = requests.owner_reader()
resume = use_cases.resume_series(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, one, by = owner_of(event), requests.parameter(event, "seriesId"), requests.caller_of(event)
    admit_no_body(requests.body_of(event))
    match resume(owner, one, by):
        case Resumed(cursor=cursor, missed=missed):
            return steering.resumed(cursor, missed)
        case MayStillRun(cursor=cursor, schedules=schedules, wait=wait):
            return steering.may_still_run(cursor, schedules, wait)
        case SeriesRefuses(reason):
            return steering.not_possible(reason)
        case NoSeries():
            return series.no_series()
