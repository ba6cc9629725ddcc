"""POST /series/preview: the next times of a rule."""

from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.series import routes as series
from delayer.series.use_cases.read import PreviewSeries
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-series-preview")
preview = build(PreviewSeries, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, _owner: str) -> Response:
    """One call."""
    found = preview(request.body)
    return series.times(found.times, found.words, found.tz_version)
