"""POST /schedules/{id}/stop: no further attempt of a claimed schedule starts."""

from typing import Any

from delayer.aws import api_wiring, wiring
from delayer.aws.http import answers, problems, requests
from delayer.aws.runtime import SystemClock
from delayer.aws.telemetry import Telemetry
from delayer.core.withdrawing import Expired, NotFound, TooEarly, TooLate
from delayer.use_cases.stop import Stop, Stopped

telemetry = Telemetry("api-schedule-stop")
stop = Stop(clock=SystemClock(), ledger=wiring.ledger(), ids=api_wiring.ids(), observer=telemetry)


@telemetry.observed
@problems.answers_problems(telemetry)
def handler(event: dict[str, Any], _context: object) -> answers.Answer:
    """One invocation."""
    match stop(requests.parameter(event, "id"), requests.owner_of(event)):
        case Stopped(row):
            return answers.stopping(row)
        case TooEarly():
            return problems.too_early()
        case TooLate(row):
            return problems.too_late(row)
        case Expired():
            return problems.expired()
        case NotFound():
            return problems.not_found()
