"""GET /series: those of a group, or all, page by page."""

from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.series import routes as series
from delayer.series.rules.admission import admit_series_listing, cursor_of
from delayer.series.use_cases.read import ListSeries
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-series-list")
list_series = build(ListSeries, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    page = list_series(admit_series_listing(request.query), owner)
    return series.page(page.series, cursor_of(page.after.group, page.after.series) if page.after else "")
