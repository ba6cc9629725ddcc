"""Commands of an operator on owner policies; invoked by hand.

{"command": "set", "owner": "…", "policy": {"actions": ["http-request"], "hosts": ["*.example.com"]}, "over": 0}
{"command": "show" | "list" | "remove" | "try"}
"""

from typing import Any

from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("operator-owner-policy")
commands = use_cases.owner_policy_commands(ports)


@ports.observer.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return commands(event)
