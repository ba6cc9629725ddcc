"""A fake behind httpx: a request becomes the event that API Gateway makes of it (payload format 2.0)."""

import base64
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

import httpx

from delayer_client.testing.routes import Found, route_of

OWNER: Final = "delayer-owner"
Answered = Mapping[str, Any]  # as a function answers API Gateway


class FakeTransport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """For httpx.Client and httpx.AsyncClient alike. `call` is what stands behind the gateway."""

    def __init__(self, call: Callable[[Found, dict[str, Any]], Answered], owner: str = "") -> None:
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
        found = route_of(request.method, path)
        made = self._call(found, event_of(request, found, path, query, self._owner))
        body = str(made.get("body") or "")
        content = base64.b64decode(body) if made.get("isBase64Encoded") else body.encode("utf-8", "surrogatepass")
        return httpx.Response(int(made["statusCode"]), headers=made.get("headers") or {}, content=content)


def event_of(request: httpx.Request, found: Found, path: str, query: str, owner: str) -> dict[str, Any]:
    """As API Gateway makes it. Who names no owner is the one of the fake."""
    headers: dict[str, str] = {}
    for name, value in request.headers.multi_items():
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    if owner:
        headers.setdefault(OWNER, owner)
    parameters: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        parameters[name] = f"{parameters[name]},{value}" if name in parameters else value
    text, is_base64 = _text_of(request.content)
    return {
        "version": "2.0",
        "routeKey": found.route,
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "queryStringParameters": parameters,
        "pathParameters": found.parameters,
        "requestContext": {"http": {"method": request.method, "path": path, "sourceIp": "127.0.0.1"}},
        "body": text,
        "isBase64Encoded": is_base64,
    }


def _text_of(content: bytes) -> tuple[str, bool]:
    try:
        return content.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(content).decode(), True
