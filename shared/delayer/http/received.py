"""A call that came by HTTP becomes a request of the API, as API Gateway makes it one: for the fake and the engine."""

from collections.abc import Mapping
from urllib.parse import parse_qsl

from delayer.http.requests import ApiRequest, Caller
from delayer.http.routing import Routed


def received(
    routed: Routed, path: str, query: str, headers: Mapping[str, str], *, body: bytes = b"", caller: Caller
) -> ApiRequest:
    """Returns the request. Path and query are as they were sent; headers by their names in lower case."""
    return ApiRequest(
        route=routed.route,
        path=path,
        parameters=routed.parameters,
        query=query_in(query) if query else {},
        headers=headers,
        body=body,
        caller=caller,
    )


def query_in(text: str) -> dict[str, str]:
    """The parameters of a query. The values of a repeated one are joined."""
    found: dict[str, str] = {}
    for name, value in parse_qsl(text, keep_blank_values=True):
        found[name] = f"{found[name]},{value}" if name in found else value
    return found
