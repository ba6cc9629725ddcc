"""The delayer queue: waits out the last fraction, claims, and hands over to the action's queue."""

from typing import Any

from delayer.aws import wiring
from delayer.aws.queue import deliveries_of, partial_failure
from delayer.aws.runtime import SystemClock, Threads, number, random_token
from delayer.aws.telemetry import Telemetry
from delayer.core.instants import SECOND
from delayer.use_cases.relay import Relay

telemetry = Telemetry("delayer-relay")
relay = Relay(
    clock=SystemClock(),
    ledger=wiring.ledger(),
    delayer_queue=wiring.queue("DELAYER_QUEUE"),
    executor_queues=wiring.executor_queues(),
    set_aside=wiring.set_aside(telemetry),
    observer=telemetry,
    parallel=Threads(),
    new_nonce=random_token,
    lease=number("LEASE") * SECOND,
    lead=number("HANDOVER_LEAD"),
)


@telemetry.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return partial_failure(relay(deliveries_of(event)))
