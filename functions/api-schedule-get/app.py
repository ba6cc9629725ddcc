"""GET /schedules/{id} and GET /schedules/by-name/{name}: where it is, and what became of it."""

from typing import Any

from delayer.aws import api_wiring, wiring
from delayer.aws.http import answers, problems, requests
from delayer.aws.runtime import SystemClock
from delayer.aws.telemetry import Telemetry
from delayer.core.whereabouts import Found
from delayer.core.withdrawing import Expired, NotFound
from delayer.use_cases.look import Look

telemetry = Telemetry("api-schedule-get")
look = Look(
    clock=SystemClock(),
    ledger=wiring.ledger(),
    schedules=wiring.schedule_table(),
    registry=api_wiring.registry(),
    journal=api_wiring.journal(),
    ids=api_wiring.ids(),
    observer=telemetry,
)


@telemetry.observed
@problems.answers_problems(telemetry)
def handler(event: dict[str, Any], _context: object) -> answers.Answer:
    """One invocation."""
    owner, name = requests.owner_of(event), requests.name_of(event)
    match look.by_name(name, owner) if name else look.by_id(requests.parameter(event, "id"), owner):
        case Found() as found:
            return answers.answer(200, answers.shown(found))
        case Expired():
            return problems.expired()
        case NotFound():
            return problems.not_found()
