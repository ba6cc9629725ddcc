"""Commands of an operator on what is set aside or failed; invoked by hand.

{"command": "list", "prefix": "set-aside/"} · {"command": "show" | "put-back" | "throw-away", "key": "…"}
"""

from typing import Any

from delayer.aws import wiring
from delayer.aws.operator import answered
from delayer.aws.runtime import SystemClock, random_token
from delayer.aws.stream import message_in
from delayer.aws.telemetry import Telemetry
from delayer.use_cases.operate import Operate

telemetry = Telemetry("operator-set-aside")
operate = Operate(
    clock=SystemClock(),
    ledger=wiring.ledger(),
    store=wiring.set_aside_store(),
    delayer_queue=wiring.queue("DELAYER_QUEUE"),
    observer=telemetry,
    read_record=message_in,
    new_nonce=random_token,
)


@telemetry.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return answered(operate, event)
