"""GET /series: those of a group, or all, page by page."""

from typing import Any

from delayer.aws.http import problems, requests, responses, series
from delayer.core.api.series.listing import admit_series_listing, cursor_of
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-series-list")
owner_of = requests.owner_reader()
list_series = use_cases.list_series(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner = owner_of(event)
    page = list_series(admit_series_listing(requests.query(event)), owner)
    return series.page(page.series, cursor_of(page.after.group, page.after.series) if page.after else "")
