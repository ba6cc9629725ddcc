"""Makes the first keys behind ids and signatures, and rotates them; invoked every minute, after a deployment, by hand.

{"command": "ensure"} · {"command": "rotate"} · {"command": "show"} · {"command": "rotate-signing-key"}
"""

from typing import Any

from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("operator-id-key")
keep = use_cases.keep_id_keys(ports)


@ports.observer.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return keep(event)
