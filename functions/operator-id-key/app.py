"""Makes the first keys behind ids and signatures, and rotates them.

A custom resource of the stack, so that it has keys as soon as it is created. Every minute, or by hand:

{"command": "ensure"} · {"command": "rotate"} · {"command": "show"} · {"command": "rotate-signing-key"}
"""

from typing import Any

from delayer.lambdas.custom_resource import is_request, settle
from delayer.signing.id_keys import KeepIdKeys
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("operator-id-key")
keep = build(KeepIdKeys, ports)


@ports.observer.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    if is_request(event):
        return settle(event, keep.of_a_stack, ports.observer)
    return keep(event)
