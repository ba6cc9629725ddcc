"""GET /schedules: those of a group, or all, in due order, page by page."""

from delayer.accept import routes as schedules
from delayer.accept.rules.listing import admit_listing, cursor_after
from delayer.accept.use_cases.list_schedules import ListSchedules
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-list")
list_schedules = build(ListSchedules, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    page = list_schedules(admit_listing(request.query), owner)
    return schedules.page(page.schedules, cursor_after(page.after) if page.after else "")
