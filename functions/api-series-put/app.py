"""PUT /series/by-name/{name}: creates the series of that name, or gives the live one another definition."""

from typing import Any

from delayer.aws.http import problems, requests, responses, series, steering
from delayer.aws.http.connections import hinted
from delayer.core.api.request import KeyReused
from delayer.core.api.series.admission import admit_named_series
from delayer.ports.registry import RequestRow
from delayer.use_cases.once import Call, Known
from delayer.use_cases.series.begin import NoLifecycle, SeriesCreated, SeriesNameTaken
from delayer.use_cases.series.halt import MayStillRun
from delayer.use_cases.series.put import PutAnswer
from delayer.use_cases.series.steering.change import SeriesChanged
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-series-put")
owner_of = requests.owner_reader()
put_series = use_cases.put_series(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, name, body = owner_of(event), requests.parameter(event, "name"), requests.body_of(event)
    call = Call(owner=owner, what=requests.asked_of(event), body=body, key=requests.key_of(event))

    def put(known: Known) -> PutAnswer | NoLifecycle:
        request = admit_named_series(body, name, ports.clock.now(), ports.actions)
        only_new, by = requests.creates_only(event), requests.caller_of(event)
        return put_series(request, owner, only_new=only_new, by=by, known=known)

    match put_series.once(call, put):
        case SeriesCreated(series=made, name=name, at=at, occurrence=occurrence):
            return hinted(series.created(made, name, at, occurrence), body)
        case SeriesChanged(effect=effect) | (RequestRow() as effect):
            return hinted(steering.put(effect, name), body)
        case SeriesNameTaken(holder):
            return series.series_name_exists(holder)
        case MayStillRun(cursor=cursor, schedules=schedules, wait=wait):
            return steering.may_still_run(cursor, schedules, wait)
        case NoLifecycle():
            return series.no_lifecycle()
        case KeyReused():
            return problems.key_reused(creates="series")
