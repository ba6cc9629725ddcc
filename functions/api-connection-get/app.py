"""GET /connections, page by page, and GET /connections/{name}: what may be shown of them."""

from typing import Any

from delayer.aws.http import connections, problems, requests, responses
from delayer.core.connections.admission import admit_connection_listing, cursor_of
from delayer.use_cases.connections.read import ConnectionFound
from delayer.wiring.connections import read_connections
from delayer.wiring.environment import Environment

ports = Environment("api-connection-get")
owner_of = requests.owner_reader()
read = read_connections(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, name = owner_of(event), requests.name_of(event)
    if name:
        found = read.one(owner, name)
        return connections.one(found.row, found.live) if isinstance(found, ConnectionFound) else connections.none()
    page = read.page(owner, admit_connection_listing(requests.query(event)))
    return connections.page(page.connections, cursor_of(page.more) if page.more else "")
