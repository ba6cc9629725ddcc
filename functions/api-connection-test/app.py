"""POST /connections/{name}/test: one call to a URL with the credentials of a connection, as safe as any attempt."""

from typing import Final

from delayer.actions.ports import NotAttempted
from delayer.actions.rules.model import Message, Result
from delayer.connections import routes as connections
from delayer.connections.admission import admit_test
from delayer.connections.credentials import PermitTest
from delayer.engines.process import setting
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.signing.sign import Sign
from delayer.targets.connected import ConnectedTarget, TokenEndpoint
from delayer.targets.http_request import HttpTarget, Request
from delayer.wiring.build import build
from delayer.wiring.environment import Environment
from delayer.wiring.use_cases import credentials

SECONDS: Final = 7.0  # less than the function may take

ports = Environment("api-connection-test")
http = HttpTarget(allow_private=setting("ALLOW_PRIVATE_TARGETS") == "true")
permit, sign_it = build(PermitTest, ports), build(Sign, ports)
target = ConnectedTarget(target=http, credentials=credentials(ports, TokenEndpoint(target=http)))


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    name, url = request.name(), admit_test(request.body)
    try:
        if not permit(owner, name, url):
            return connections.none()
        result = _made(owner, name, url)
    except NotAttempted as error:
        return connections.not_tested(str(error))
    return connections.tested(result, connections.url_shown(url))


def _made(owner: str, name: str, url: str) -> Result:
    new_id = f"test-{ports.new_job_id()}"  # a receiver that knows an id does nothing for it
    message = Message[None](
        action=None, payload="", schedule_id=new_id, owner=owner, point_in_time=ports.clock.now(), attempt=1
    )
    request = Request(url=url, method="GET", headers={}, timeout=SECONDS, signature=sign_it(message))
    return target.send(request, message, name)
