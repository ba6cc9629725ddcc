"""Commands of an operator on what waits although it is due; invoked by hand.

{"command": "list"} · {"command": "suspend", "owner": "…", "target": "api.example.com", "reason": "…"}
{"command": "release" | "close", "owner": "…", "target": "…"}
"""

from typing import Any

from delayer.flow.commands import OperateFlow
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("operator-flow")
operate = build(OperateFlow, ports)


@ports.observer.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return operate(event)
