"""PUT /series/by-name/{name}: creates the series of that name, or gives the live one another definition."""

from typing import Any

from delayer.aws.http import problems, requests, responses, series, steering
from delayer.aws.http.connections import hinted
from delayer.core.api.series.admission import admit_named_series
from delayer.use_cases.series.begin import NoLifecycle, SeriesCreated, SeriesNameTaken
from delayer.use_cases.series.halt import MayStillRun
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
    owner, name = owner_of(event), requests.parameter(event, "name")
    body = requests.body_of(event)
    request = admit_named_series(body, name, ports.clock.now(), ports.actions)
    match put_series(request, owner, only_new=requests.creates_only(event), by=requests.caller_of(event)):
        case SeriesCreated(series=made, name=name, at=at, occurrence=occurrence):
            return hinted(series.created(made, name, at, occurrence), body)
        case SeriesChanged(cursor=cursor, number=number, put=put, replaced=replaced):
            return hinted(steering.changed(cursor, number, put, replaced), body)
        case SeriesNameTaken(holder):
            return series.series_name_exists(holder)
        case MayStillRun(cursor=cursor, schedules=schedules, wait=wait):
            return steering.may_still_run(cursor, schedules, wait)
        case NoLifecycle():
            return series.no_lifecycle()
