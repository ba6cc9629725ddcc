"""GET /connections, page by page, and GET /connections/{name}: what may be shown of them."""

from delayer.connections import routes as connections
from delayer.connections.admission import admit_connection_listing, cursor_of
from delayer.connections.put_and_delete import ConnectionFound, ReadConnections
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("api-connection-get")
read = build(ReadConnections, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    name = request.name()
    if name:
        found = read.one(owner, name)
        return connections.one(found.row, found.live) if isinstance(found, ConnectionFound) else connections.none()
    page = read.page(owner, admit_connection_listing(request.query))
    return connections.page(page.connections, cursor_of(page.more) if page.more else "")
