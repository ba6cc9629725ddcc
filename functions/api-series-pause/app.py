"""POST /series/{seriesId}/pause: nothing more of it is handed over until it is resumed, but for what is named."""

from typing import Any

from delayer.aws.http import problems, requests, responses, series, steering
from delayer.core.api.series.no_body import admit_no_body
from delayer.core.series.occurrence import SeriesRefuses
from delayer.core.series.series import NoSeries
from delayer.use_cases.series.halt import Halted, MayStillRun
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-series-pause")
owner_of = requests.owner_reader()
halt = use_cases.halt_series(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, one, by = owner_of(event), requests.parameter(event, "seriesId"), requests.caller_of(event)
    admit_no_body(requests.body_of(event))
    match halt.pause(owner, one, by):
        case Halted(cursor=cursor, cancelled=cancelled, claimed=claimed, claimed_up_to=number):
            return steering.halted(cursor, cancelled, claimed, number)
        case MayStillRun(cursor=cursor, schedules=schedules, wait=wait):
            return steering.may_still_run(cursor, schedules, wait)
        case SeriesRefuses(reason):
            return steering.not_possible(reason)
        case NoSeries():
            return series.no_series()
