"""POST /connections/{name}/test: one call to a URL with the credentials of a connection, as safe as any attempt."""

from typing import Any, Final

from delayer.aws.http import connections, problems, requests, responses
from delayer.aws.runtime.environment import setting
from delayer.core.actions.message import Message
from delayer.core.actions.results import Result
from delayer.core.connections.admission import admit_test
from delayer.ports.target import NotAttempted
from delayer.targets.connections.connected import ConnectedTarget
from delayer.targets.connections.token_endpoint import TokenEndpoint
from delayer.targets.http_request import HttpTarget, Request
from delayer.wiring.connections import credentials, permit_test
from delayer.wiring.environment import Environment
from delayer.wiring.use_cases import sign

SECONDS: Final = 7.0  # less than the function may take

ports = Environment("api-connection-test")
owner_of = requests.owner_reader()
http = HttpTarget(allow_private=setting("ALLOW_PRIVATE_TARGETS") == "true")
permit, sign_it = permit_test(ports), sign(ports)
target = ConnectedTarget(target=http, credentials=credentials(ports, TokenEndpoint(target=http)))


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, name, url = owner_of(event), requests.name_of(event), admit_test(requests.body_of(event))
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
