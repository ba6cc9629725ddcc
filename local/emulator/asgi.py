"""The layers around ministack share these: the types of ASGI, reading a request, and sending a response."""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any

from delayer.http.web_pages import headers_in

# ASGI's own messages: which keys they have depends on their type.
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


def headers_of(scope: Scope) -> dict[str, str]:
    """The headers of a request by name in lower case."""
    return headers_in(scope["headers"])


async def body_of(receive: Receive) -> bytes:
    """The whole body of a request. After a disconnect, the part that was received before it."""
    chunks = []
    while True:
        message = await receive()
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(chunks)


async def respond(send: Send, status: int, detail: str) -> None:
    """Send a problem document (RFC 9457); a 200 gets the same shape."""
    problem = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    await respond_json(send, status, problem, b"application/problem+json")


async def respond_json(send: Send, status: int, content: object, content_type: bytes = b"application/json") -> None:
    """Send `content` as JSON."""
    body = json.dumps(content).encode()
    headers = [(b"content-type", content_type), (b"content-length", str(len(body)).encode())]
    if status == 503:
        headers.append((b"retry-after", b"2"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
