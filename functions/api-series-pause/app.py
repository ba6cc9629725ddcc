"""POST /series/{seriesId}/pause: nothing more of it is handed over until it is resumed, but for what is named."""

from delayer.http.answers import Response
from delayer.http.json_body import admit_no_body
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.series import routes as series
from delayer.series.use_cases.halt import Halt, Halted
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-series-pause")
halt = build(Halt, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    one, by = request.parameter("seriesId"), request.caller.arn
    admit_no_body(request.body)
    match halt.pause(owner, one, by):
        case Halted(cursor=cursor, cancelled=cancelled, claimed=claimed, claimed_up_to=number):
            return series.halted(cursor, cancelled, claimed, number)
        case refusal:
            return series.refused(refusal)
