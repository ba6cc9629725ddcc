"""GET /schedules: those of a group, or all, in due order, page by page."""

from typing import Any

from delayer.aws import api_wiring, wiring
from delayer.aws.http import answers, problems, requests
from delayer.aws.runtime import SystemClock
from delayer.aws.telemetry import Telemetry
from delayer.core.admission import admit_listing, cursor_after
from delayer.use_cases.list_schedules import ListSchedules

telemetry = Telemetry("api-schedule-list")
list_schedules = ListSchedules(
    clock=SystemClock(),
    ledger=wiring.ledger(),
    schedules=wiring.schedule_table(),
    registry=api_wiring.registry(),
    journal=api_wiring.needed_journal(),
    ids=api_wiring.ids(),
)


@telemetry.observed
@problems.answers_problems(telemetry)
def handler(event: dict[str, Any], _context: object) -> answers.Answer:
    """One invocation."""
    owner = requests.owner_of(event)
    page = list_schedules(admit_listing(requests.query(event)), owner)
    return answers.page(page.schedules, cursor_after(page.after) if page.after else "")
