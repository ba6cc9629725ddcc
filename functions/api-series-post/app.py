"""POST /series: an action that is repeated by a rule."""

from delayer.accept.rules.request import KeyReused
from delayer.connections.routes import hinted
from delayer.http.answers import Response, key_reused
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.series import routes as series
from delayer.series.use_cases.create import CreateSeries, NoLifecycle, SeriesCreated, SeriesNameTaken
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-series-post")
create = build(CreateSeries, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    body = request.body
    match create(body, owner, request.key()):
        case SeriesCreated(series=made, name=name, at=at, occurrence=occurrence):
            return hinted(series.created(made, name, at, occurrence), body)
        case SeriesNameTaken(holder):
            return series.series_name_taken(holder)
        case KeyReused():
            return key_reused(creates="series")
        case NoLifecycle():
            return series.no_lifecycle()
