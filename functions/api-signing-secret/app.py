"""GET /signing-secret and POST /signing-secret/rotate: the secret that signs the requests of an owner's schedules."""

from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.signing import routes as signing
from delayer.signing.routes import admit_rotation
from delayer.signing.rules import NotRotated
from delayer.signing.sign import OwnSecrets
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-signing-secret")
secrets = build(OwnSecrets, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    if not request.route.endswith("/rotate"):
        return signing.secrets(secrets.show(owner))
    overlap = admit_rotation(request.body)
    try:
        return signing.secrets(secrets.rotate(owner, overlap))
    except NotRotated as error:
        return signing.not_rotated(error, ports.clock.now())
