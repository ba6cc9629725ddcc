"""PUT /series/by-name/{name}: creates the series of that name, or gives the live one another definition."""

from delayer.accept.ports import RequestRow
from delayer.accept.use_cases.once import Call, KnownKey
from delayer.connections.routes import hinted
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.series import routes as series
from delayer.series.rules.admission import admit_named_series
from delayer.series.use_cases.change import SeriesChanged
from delayer.series.use_cases.create import NoLifecycle, SeriesCreated, SeriesNameTaken
from delayer.series.use_cases.put import PutAnswer, PutSeries
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-series-put")
lanes = ports.settings.lanes
put_series = build(PutSeries, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    name, body = request.parameter("name"), request.body
    call = Call(owner=owner, what=request.asked(), body=body, key=request.key())

    def put(known: KnownKey) -> PutAnswer | NoLifecycle:
        wanted = admit_named_series(body, name, ports.clock.now(), ports.actions, lanes)
        only_new, by = request.creates_only(), request.caller.arn
        return put_series(wanted, owner, only_new=only_new, by=by, known=known)

    match put_series.once(call, put):
        case SeriesCreated(series=made, name=name, at=at, occurrence=occurrence):
            return hinted(series.created(made, name, at, occurrence), body)
        case SeriesChanged(effect=effect) | (RequestRow() as effect):
            return hinted(series.put(effect, name), body)
        case SeriesNameTaken(holder):
            return series.series_name_exists(holder)
        case NoLifecycle():
            return series.no_lifecycle()
        case refusal:
            return series.refused(refusal, creates="series")
