"""PATCH /series/{seriesId}: another rule, payload or action, from a stated occurrence on."""

from typing import Any

from delayer.aws.http import problems, requests, responses, series, steering
from delayer.aws.http.connections import hinted
from delayer.core.api.request import KeyReused
from delayer.core.api.series.steering import admit_series_change
from delayer.core.series.occurrence import SeriesRefuses
from delayer.core.series.series import NoSeries
from delayer.ports.registry import RequestRow
from delayer.use_cases.once import Call, Known
from delayer.use_cases.series.halt import MayStillRun
from delayer.use_cases.series.steering.change import ChangeAnswer, SeriesChanged
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-series-patch")
owner_of = requests.owner_reader()
change_series = use_cases.change_series(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, one, body = owner_of(event), requests.parameter(event, "seriesId"), requests.body_of(event)
    call = Call(owner=owner, what=requests.asked_of(event), body=body, key=requests.key_of(event))

    def change(known: Known) -> ChangeAnswer:
        asked = admit_series_change(body, ports.clock.now(), ports.actions)
        return change_series(owner, one, asked.applied_to, requests.caller_of(event), known)

    match change_series.once(call, change):
        case SeriesChanged(effect=effect) | (RequestRow() as effect):
            return hinted(steering.changed(effect), body)
        case MayStillRun(cursor=cursor, schedules=schedules, wait=wait):
            return steering.may_still_run(cursor, schedules, wait)
        case SeriesRefuses(reason):
            return steering.not_possible(reason)
        case NoSeries():
            return series.no_series()
        case KeyReused():
            return problems.key_reused(creates="change")
