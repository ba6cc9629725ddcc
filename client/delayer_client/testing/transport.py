"""A fake behind httpx: a request of httpx becomes one of the API, and its response one of httpx."""

from collections.abc import Callable
from typing import Final
from urllib.parse import parse_qsl

import httpx

from delayer.http.answers import Response
from delayer.http.requests import OWNER_HEADER, ApiRequest, Caller
from delayer.http.routing import Routed, route_of

HERE: Final = Caller(address="127.0.0.1")


class FakeTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """For httpx.Client and httpx.AsyncClient alike. `call` answers a request of a function."""

    def __init__(self, call: Callable[[str, ApiRequest], Response], owner: str = "") -> None:
        self._call = call
        self._owner = owner

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """One call."""
        request.read()
        return self._answered(request)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """One call."""
        await request.aread()
        return self._answered(request)

    def _answered(self, request: httpx.Request) -> httpx.Response:
        path, _, query = request.url.raw_path.decode("ascii").partition("?")
        routed = route_of(request.method, path)
        made = self._call(routed.function, request_of(request, routed, path, query, self._owner))
        return httpx.Response(made.status, headers=made.headers, content=made.body.encode("utf-8", "surrogatepass"))


def request_of(request: httpx.Request, routed: Routed, path: str, query: str, owner: str) -> ApiRequest:
    """Headers that are sent twice are joined, as API Gateway does. Who names no owner is the one of the fake."""
    headers: dict[str, str] = {}
    for name, value in request.headers.multi_items():
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    if owner:
        headers.setdefault(OWNER_HEADER, owner)
    parameters: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        parameters[name] = f"{parameters[name]},{value}" if name in parameters else value
    return ApiRequest(
        route=routed.route,
        path=path,
        parameters=routed.parameters,
        query=parameters,
        headers=headers,
        body=request.content,
        caller=HERE,
    )
