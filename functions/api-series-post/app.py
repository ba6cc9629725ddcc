"""POST /series: an action that is repeated by a rule."""

from typing import Any

from delayer.aws.http import problems, requests, responses, series
from delayer.aws.http.connections import hinted
from delayer.core.api.request import KeyReused
from delayer.use_cases.series.begin import NoLifecycle, SeriesCreated, SeriesNameTaken
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-series-post")
owner_of = requests.owner_reader()
create = use_cases.create_series(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, body = owner_of(event), requests.body_of(event)
    match create(body, owner, requests.key_of(event)):
        case SeriesCreated(series=made, name=name, at=at, occurrence=occurrence):
            return hinted(series.created(made, name, at, occurrence), body)
        case SeriesNameTaken(holder):
            return series.series_name_taken(holder)
        case KeyReused():
            return problems.key_reused(creates="series")
        case NoLifecycle():
            return series.no_lifecycle()
