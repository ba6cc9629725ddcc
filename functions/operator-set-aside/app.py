"""Commands of an operator on what is set aside or failed; invoked by hand.

{"command": "list", "prefix": "set-aside/"} · {"command": "show" | "put-back" | "throw-away", "key": "…"}
"""

from typing import Any

from delayer.aws import wiring
from delayer.aws.kept_schedules import schedules_in
from delayer.aws.operator import answered
from delayer.aws.runtime import SystemClock, number, random_token
from delayer.aws.telemetry import Telemetry
from delayer.core.instants import SECOND
from delayer.use_cases.operate import Operate

telemetry = Telemetry("operator-set-aside")
operate = Operate(
    clock=SystemClock(),
    ledger=wiring.ledger(),
    store=wiring.set_aside_store(),
    schedules=wiring.schedule_table(),
    delayer_queue=wiring.queue("DELAYER_QUEUE"),
    observer=telemetry,
    read=schedules_in,
    new_nonce=random_token,
    period=number("DELAYER_PERIOD") * SECOND,
)


@telemetry.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return answered(operate, event)
