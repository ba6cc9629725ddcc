"""Cancels groups in the background, some members at a time."""

from typing import Any

from delayer.aws import api_wiring, wiring
from delayer.aws.queue import deliveries_of, partial_failure
from delayer.aws.runtime import SystemClock, Threads
from delayer.aws.telemetry import Telemetry
from delayer.use_cases.cancel import Cancel
from delayer.use_cases.cancel_group import CancelGroup

telemetry = Telemetry("job-group-canceller")
clock = SystemClock()
registry = api_wiring.registry()
cancel = Cancel(
    clock=clock,
    ledger=wiring.ledger(),
    schedules=wiring.schedule_table(),
    registry=registry,
    ids=api_wiring.ids(),
    observer=telemetry,
)
cancel_group = CancelGroup(
    clock=clock,
    registry=registry,
    jobs=api_wiring.jobs(),
    cancel=cancel,
    queue=wiring.queue("GROUP_QUEUE"),
    parallel=Threads(),
    observer=telemetry,
)


@telemetry.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return partial_failure(cancel_group(deliveries_of(event)))
