"""The dead-letter queues: what nobody could handle is set aside, with its whole body."""

from typing import Any

from delayer.aws import wiring
from delayer.aws.queue import deliveries_of, partial_failure
from delayer.aws.telemetry import Telemetry
from delayer.use_cases.drain import Drain

telemetry = Telemetry("dlq-set-aside")
drain = Drain(set_aside=wiring.set_aside(telemetry))


@telemetry.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return partial_failure(drain(deliveries_of(event)))
