"""PUT and DELETE of /connections/{name}: the only calls that write values, and never read one."""

from typing import Any

from delayer.aws.http import connections, problems, requests, responses
from delayer.core.connections.admission import admit_connection, admit_force
from delayer.use_cases.connections.delete import ConnectionDeleted, InUse
from delayer.use_cases.connections.put import ConnectionPut
from delayer.wiring.connections import delete_connection, put_connection
from delayer.wiring.environment import Environment

ports = Environment("api-connection-put")
owner_of = requests.owner_reader()
put, delete = put_connection(ports), delete_connection(ports)


@ports.observer.observed
@problems.responds_with_problems(ports.observer)
def handler(event: dict[str, Any], _context: object) -> responses.Response:
    """One invocation."""
    owner, name = owner_of(event), requests.name_of(event)
    if requests.route_of(event).startswith("DELETE"):
        return _deleted(owner, name, force=admit_force(requests.query(event)))
    match put(admit_connection(requests.body_of(event)), owner, name):
        case ConnectionPut(row=row, is_new=is_new):
            return connections.put(row, is_new=is_new)
        case refused:
            return connections.too_many(refused.most)


def _deleted(owner: str, name: str, *, force: bool) -> responses.Response:
    match delete(owner, name, force=force):
        case ConnectionDeleted():
            return connections.deleted()
        case InUse(live):
            return connections.in_use(live)
    return connections.none()
