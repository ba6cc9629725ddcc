"""Commands of an operator on dead letters and failed schedules; invoked by hand.

{"command": "list", "prefix": "dead-lettered/"} · {"command": "show" | "redrive" | "discard", "key": "…"}
"""

from typing import Any

from delayer.use_cases.recovery.commands import respond
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("operator-dead-letters")
redrive = use_cases.redrive(ports)


@ports.observer.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return respond(redrive, event)
