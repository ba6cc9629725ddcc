"""DELETE /schedules/{id} and DELETE /schedules/by-name/{name}: cancels, and says the truth about it."""

from typing import Any

from delayer.aws import api_wiring, wiring
from delayer.aws.http import answers, problems, requests
from delayer.aws.runtime import SystemClock
from delayer.aws.telemetry import Telemetry
from delayer.core.withdrawing import Expired, NotFound, TooLate
from delayer.use_cases.cancel import Cancel, Cancelled

telemetry = Telemetry("api-schedule-delete")
cancel = Cancel(
    clock=SystemClock(),
    ledger=wiring.ledger(),
    schedules=wiring.schedule_table(),
    registry=api_wiring.registry(),
    ids=api_wiring.ids(),
    observer=telemetry,
)


@telemetry.observed
@problems.answers_problems(telemetry)
def handler(event: dict[str, Any], _context: object) -> answers.Answer:
    """One invocation."""
    owner, name = requests.owner_of(event), requests.name_of(event)
    match cancel.by_name(name, owner) if name else cancel(requests.parameter(event, "id"), owner):
        case Cancelled(row):
            return answers.ended(row)
        case TooLate(row):
            return problems.too_late(row)
        case Expired():
            return problems.expired()
        case NotFound():
            return problems.not_found()
