"""POST /schedules: one call, one schedule."""

import secrets
from typing import Any

from delayer.aws import http_api, wiring
from delayer.aws.runtime import SystemClock, number
from delayer.aws.telemetry import Telemetry
from delayer.use_cases.accept import Accept

telemetry = Telemetry("api-schedule-post")
accept = Accept(
    clock=SystemClock(),
    schedules=wiring.schedule_table(),
    control=wiring.control(),
    observer=telemetry,
    randomness=secrets.token_bytes,
    pick=secrets.randbelow,
    shards=number("SHARDS"),
)


@telemetry.observed
@http_api.answers_problems(telemetry)
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    schedule = accept(http_api.body_of(event), http_api.owner_of(event))
    return http_api.created(schedule)
