"""Commands of an operator on dead letters and failed schedules; invoked by hand.

{"command": "list", "prefix": "dead-lettered/"} · {"command": "show" | "redrive" | "discard", "key": "…"}
{"command": "redrive" | "discard", "where": {"reason": "HTTP 503"}, "dryRun": true}
"""

from typing import Any

from delayer.dead_letters.commands import respond
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("operator-dead-letters")
bulk = use_cases.bulk(ports)


@ports.observer.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return respond(bulk, event)
