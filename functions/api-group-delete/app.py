"""DELETE /schedules?group=: begins to cancel a whole group."""

import secrets
from typing import Any

from delayer.aws import api_wiring, wiring
from delayer.aws.http import answers, problems, requests
from delayer.aws.runtime import SystemClock
from delayer.aws.telemetry import Telemetry
from delayer.core.admission import admit_group
from delayer.use_cases.cancel_group import BeginCancelGroup

telemetry = Telemetry("api-group-delete")
begin = BeginCancelGroup(
    clock=SystemClock(),
    jobs=api_wiring.jobs(),
    queue=wiring.queue("GROUP_QUEUE"),
    observer=telemetry,
    new_job=lambda: secrets.token_hex(16),
)


@telemetry.observed
@problems.answers_problems(telemetry)
def handler(event: dict[str, Any], _context: object) -> answers.Answer:
    """One invocation."""
    owner = requests.owner_of(event)
    return answers.begun(begin(admit_group(requests.query(event)), owner))
