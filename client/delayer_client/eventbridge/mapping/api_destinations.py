"""An API destination of a rule becomes an `http-request` with a connection, whose secret somebody has to give."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from delayer_client.eventbridge.mapping.arns import checked
from delayer_client.eventbridge.mapping.outcome import Aimed, CannotMove, Note
from delayer_client.eventbridge.reading.sources import Connection, Found, HttpParameters, Parameter, RuleTarget

MARK: Final = ":api-destination/"
METHODS: Final = ("DELETE", "GET", "PATCH", "POST", "PUT")
# A test compares them with openapi.yaml.
HEADER: Final = (
    r"^(?!(?i:host|content-length|transfer-encoding|connection|idempotency-key|delayer-.*|webhook-.*)$)"
    r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$"
)
VALUE: Final = r"^[\t -~]*$"
MOST_HEADERS: Final = 50
_URL = re.compile(
    r"(?i:https)://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{2,5})?([/?#]([!-$&-~]|%[0-9A-Fa-f]{2})*)?", re.ASCII
)
_TYPES: Final = {"BASIC": "basic", "API_KEY": "api-key", "OAUTH_CLIENT_CREDENTIALS": "oauth2-client-credentials"}


def api_destination(target: RuleTarget, payload: str, found: Found) -> Aimed:
    """Raises CannotMove."""
    destination = found.destinations.get(target.arn)
    if destination is None:
        name = target.arn.split("/")[1]
        reason = "where it leads was not read; `aws events describe-api-destination` prints it for --name"
        raise CannotMove("Target.Arn", f"{reason} {name}")
    connection = found.connections.get(destination.connection_arn)
    if connection is None:
        name = destination.connection_arn.partition("/")[2].partition("/")[0] or destination.connection_arn
        raise CannotMove("Target.Arn", f"its connection was not read; `aws events describe-connection` prints {name}")
    if destination.http_method not in METHODS:
        raise CannotMove("HttpMethod", f"http-request has no {destination.http_method}: {', '.join(METHODS)}")
    action: dict[str, Any] = {
        "type": "http-request",
        "url": _url(destination.invocation_endpoint, target.http_parameters, connection),
        "method": destination.http_method,
        "connection": checked("connection", connection.name, "ConnectionArn"),
    }
    if headers := _headers(target.http_parameters, connection):
        action["headers"] = headers
    notes = [_connection_note(connection, urlsplit(action["url"]).netloc)]
    if destination.invocation_rate_limit_per_second is not None:
        notes.append(Note("InvocationRateLimitPerSecond", "it is not moved: see limits in what waits though it is due"))
    return Aimed(action=action, payload=payload, notes=tuple(notes))


def _url(endpoint: str, parameters: HttpParameters, connection: Connection) -> str:
    """With the values in the places of the stars, and the query. Raises CannotMove."""
    parts = endpoint.split("*")
    values = _constant("HttpParameters.PathParameterValues", parameters.path_parameter_values)
    if len(parts) - 1 != len(values):
        reason = f"the endpoint has {len(parts) - 1} stars, and there are {len(values)} values for them"
        raise CannotMove("HttpParameters.PathParameterValues", reason)
    url = parts[0] + "".join(quote(value, safe="") + part for value, part in zip(values, parts[1:], strict=True))
    _constant("HttpParameters.QueryStringParameters", parameters.query_string_parameters.values())
    added = connection.auth_parameters.invocation_http_parameters
    query = {**parameters.query_string_parameters, **_shown(added.query_string_parameters)}
    if query:
        url += ("&" if "?" in url else "?") + urlencode(query)
    if not _URL.fullmatch(url) or len(url) > 2_048:
        raise CannotMove("InvocationEndpoint", f"Delayer takes no such URL: {url[:200]}")
    return url


def _headers(parameters: HttpParameters, connection: Connection) -> Mapping[str, str]:
    """Returns the headers of both. Those of the connection win, as at EventBridge. Raises CannotMove."""
    _constant("HttpParameters.HeaderParameters", parameters.header_parameters.values())
    added = connection.auth_parameters
    headers = {**parameters.header_parameters, **_shown(added.invocation_http_parameters.header_parameters)}
    own = {"authorization", added.api_key_auth_parameters.api_key_name.lower()}
    headers = {name: value for name, value in headers.items() if name.lower() not in own}
    for name, value in headers.items():
        if not re.search(HEADER, name) or not re.search(VALUE, value) or len(value) > 4_096:
            raise CannotMove("HttpParameters.HeaderParameters", f"Delayer sends no such header: {name}")
    if len(headers) > MOST_HEADERS:
        raise CannotMove("HttpParameters.HeaderParameters", f"there are more than {MOST_HEADERS} headers")
    return headers


def _constant(field: str, values: Iterable[str]) -> list[str]:
    found = [*values]
    if any(value.startswith("$.") or value == "$" for value in found):
        raise CannotMove(field, "a value is taken from the event by a path, and Delayer sends what is given")
    return found


def _shown(added: Iterable[Parameter]) -> Mapping[str, str]:
    found = [*added]
    if secret := [one.key for one in found if one.is_value_secret]:
        raise CannotMove("ConnectionArn", f"its connection adds secrets that AWS does not show: {', '.join(secret)}")
    return {one.key: one.value for one in found}


def _connection_note(connection: Connection, host: str) -> Note:
    """Which connection somebody has to make first: AWS does not show its secret. Raises CannotMove.

    At EventBridge the destination says where the secret is sent; here the connection names its hosts.
    """
    auth = connection.auth_parameters
    if connection.invocation_connectivity_parameters:
        raise CannotMove("ConnectionArn", "its connection leads to a private API, and Delayer reaches public addresses")
    if auth.invocation_http_parameters.body_parameters:
        raise CannotMove("ConnectionArn", "its connection adds fields to the body, and Delayer sends the payload alone")
    kind = _TYPES.get(connection.authorization_type)
    if kind is None:
        raise CannotMove("ConnectionArn", f"Delayer has no connection of the type {connection.authorization_type}")
    details = {
        "api-key": f", headerName {auth.api_key_auth_parameters.api_key_name}",
        "oauth2-client-credentials": f", tokenUrl {auth.oauth_parameters.authorization_endpoint}",
    }.get(kind, "")
    made = f"make the connection {connection.name} first, of the type {kind}, with {host} among its hosts{details}"
    text = f"{made}; AWS does not show its secret"
    return Note("ConnectionArn", text)
