"""The stream of the schedules table: what is due soon leaves the table, what has left it enters the delayer queue."""

from typing import Any

from delayer.aws import wiring
from delayer.aws.queue import partial_failure
from delayer.aws.runtime import SystemClock, number, random_token
from delayer.aws.stream import changes_of
from delayer.aws.telemetry import Telemetry
from delayer.core.instants import SECOND
from delayer.use_cases.enqueue import Enqueue

telemetry = Telemetry("stream-enqueuer")
enqueue = Enqueue(
    clock=SystemClock(),
    schedules=wiring.schedule_table(),
    ledger=wiring.ledger(),
    control=wiring.control(),
    delayer_queue=wiring.queue("DELAYER_QUEUE"),
    set_aside=wiring.set_aside(telemetry),
    observer=telemetry,
    new_nonce=random_token,
    period=number("DELAYER_PERIOD") * SECOND,
)


@telemetry.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return partial_failure(enqueue(changes_of(event)))
