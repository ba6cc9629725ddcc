"""PATCH /series/{seriesId}: another rule, payload or action, from a stated occurrence on."""

from delayer.accept.ports import RequestRow
from delayer.accept.use_cases.once import Call, KnownKey
from delayer.connections.routes import hinted
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.series import routes as series
from delayer.series.rules.admission import admit_series_change
from delayer.series.use_cases.change import ChangeAnswer, ChangeSeries, SeriesChanged
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-series-patch")
lanes = ports.settings.lanes
change_series = build(ChangeSeries, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    one, body = request.parameter("seriesId"), request.body
    call = Call(owner=owner, what=request.asked(), body=body, key=request.key())

    def change(known: KnownKey) -> ChangeAnswer:
        asked = admit_series_change(body, ports.clock.now(), ports.actions, lanes)
        return change_series(owner, one, asked.applied_to, request.caller.arn, known)

    match change_series.once(call, change):
        case SeriesChanged(effect=effect) | (RequestRow() as effect):
            return hinted(series.changed(effect), body)
        case refusal:
            return series.refused(refusal)
