"""GET /signing-secret and POST /signing-secret/rotate: the secret that signs the requests of an owner's schedules."""

from typing import Any

from delayer.aws.http import problems, requests, responses, signing
from delayer.core.api.signing.rotation import admit_rotation
from delayer.core.signing.keys import NotRotated
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("api-signing-secret")
owner_of = requests.owner_reader()
secrets = use_cases.own_secrets(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner = owner_of(event)
    if not requests.route_of(event).endswith("/rotate"):
        return signing.secrets(secrets.show(owner))
    overlap = admit_rotation(requests.body_of(event))
    try:
        return signing.secrets(secrets.rotate(owner, overlap))
    except NotRotated as error:
        return signing.not_rotated(error, ports.clock.now())
