"""A fake behind httpx: a request of httpx becomes one of the API, and its response one of httpx."""

from collections.abc import Callable
from typing import Final

import httpx

from delayer.http.answers import Response
from delayer.http.received import received
from delayer.http.requests import OWNER_HEADER, ApiRequest, Caller
from delayer.http.routing import Routed, route_of
from delayer.http.web_pages import headers_by_name

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
    """Returns the request. Without an owner in its headers, it is that of the fake."""
    headers = headers_by_name(request.headers.multi_items())
    if owner:
        headers.setdefault(OWNER_HEADER, owner)
    return received(routed, path, query, headers, body=request.content, caller=HERE)
