"""GET /schedules: those of a group, or all, in due order, page by page."""

from typing import Any

from delayer.aws.http import problems, requests, responses, schedules
from delayer.core.api.listing import admit_listing, cursor_after
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-schedule-list")
owner_of = requests.owner_reader()
list_schedules = use_cases.list_schedules(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner = owner_of(event)
    page = list_schedules(admit_listing(requests.query(event)), owner)
    return schedules.page(page.schedules, cursor_after(page.after) if page.after else "")
