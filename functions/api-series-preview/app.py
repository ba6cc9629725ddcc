"""POST /series/preview: the next times of a rule."""

from typing import Any

from delayer.aws.http import problems, requests, responses, series
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-series-preview")
owner_of = requests.owner_reader()
preview = use_cases.preview_series(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner_of(event)
    found = preview(requests.body_of(event))
    return series.times(found.times, found.words, found.tz_version)
