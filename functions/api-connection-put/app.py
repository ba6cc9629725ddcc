"""PUT and DELETE of /connections/{name}: the only calls that write values, and never read one."""

from delayer.connections import routes as connections
from delayer.connections.admission import admit_connection, admit_force
from delayer.connections.put_and_delete import ConnectionDeleted, ConnectionPut, DeleteConnection, InUse
from delayer.http.answers import Response
from delayer.http.requests import ApiRequest
from delayer.lambdas.api import behind_the_api
from delayer.wiring.build import build
from delayer.wiring.environment import Environment
from delayer.wiring.use_cases import put_connection

ports = Environment("api-connection-put")
put, delete = put_connection(ports), build(DeleteConnection, ports)


@behind_the_api(ports.observer)
def handler(request: ApiRequest, owner: str) -> Response:
    """One call."""
    name = request.name()
    if request.route.startswith("DELETE"):
        return _deleted(owner, name, force=admit_force(request.query))
    match put(admit_connection(request.body), owner, name):
        case ConnectionPut(row=row, is_new=is_new):
            return connections.put(row, is_new=is_new)
        case refused:
            return connections.too_many(refused.most)


def _deleted(owner: str, name: str, *, force: bool) -> Response:
    match delete(owner, name, force=force):
        case ConnectionDeleted():
            return connections.deleted()
        case InUse(live):
            return connections.in_use(live)
    return connections.none()
