"""The stable address: requests to the API's port become requests to the stack's HTTP API, without a hop between."""

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import quote

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LOCAL_HOSTS = ("localhost", "127.0.0.1")


class Gateway:
    """ASGI middleware around the embedded AWS: the API's port, the guard, and the `/_local/` paths of the AWS port."""

    def __init__(self, embedded_aws: Application, api_port: int, prepare: Callable[[], str] = str) -> None:
        self.embedded_aws = embedded_aws
        self.api_port = api_port
        self.prepare = prepare
        self.api_id: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection of either port."""
        if scope["type"] != "http":
            await self.embedded_aws(scope, receive, send)
        elif refusal := refusal_of(scope, self.api_port):
            await answer(send, 403, refusal)
        elif scope["server"][1] == self.api_port:
            await self.to_api(scope, receive, send)
        elif scope["path"] == "/_local/api" and scope["method"] == "PUT":
            api_id = json.loads(await body_of(receive))["apiId"]
            if failure := await asyncio.to_thread(self.prepare):
                await answer(send, 500, failure)
            else:
                self.api_id = api_id
                await answer(send, 200, "The address serves this API now.")
        else:
            await self.embedded_aws(scope, receive, send)

    async def to_api(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request of the API's port; 503 while the stack is not there yet."""
        if self.api_id is None:
            await answer(send, 503, "The stack is being created; try again in a few seconds.")
        else:
            await self.embedded_aws(rewritten(scope, self.api_id), receive, send)


def rewritten(scope: Scope, api_id: str) -> Scope:
    """The scope of the same request, addressed to the `$default` stage of an HTTP API of the embedded AWS."""
    prefix = f"/_aws/execute-api/{api_id}/$default"
    raw_path = scope.get("raw_path") or quote(scope["path"]).encode()
    return {**scope, "path": prefix + scope["path"], "raw_path": prefix.encode() + raw_path}


def refusal_of(scope: Scope, api_port: int) -> str | None:
    """Why a request is refused, or None.

    The embedded AWS runs uploaded code for whoever reaches it. Web pages must not: a page of a foreign site names its
    own host (DNS rebinding) or sends an Origin.
    """
    headers = dict(scope["headers"])
    host = headers.get(b"host", b"localhost").decode("latin-1").rsplit(":", 1)[0]
    if host not in LOCAL_HOSTS and not host.endswith(".localhost"):
        return f"This address answers to localhost and 127.0.0.1 only, not to {host}."
    if b"origin" in headers and scope["server"][1] != api_port:
        return "The embedded AWS answers no requests of web pages."
    return None


async def body_of(receive: Receive) -> bytes:
    """The whole body of a request; what came before a disconnect, if there is one."""
    chunks = []
    while True:
        message = await receive()
        chunks.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(chunks)


async def answer(send: Send, status: int, detail: str) -> None:
    """Answer with a problem document (RFC 9457), or with 200 and the same shape."""
    await answer_json(send, status, {"status": status, "detail": detail}, b"application/problem+json")


async def answer_json(send: Send, status: int, content: object, content_type: bytes = b"application/json") -> None:
    """Answer with `content` as JSON."""
    body = json.dumps(content).encode()
    headers = [(b"content-type", content_type), (b"content-length", str(len(body)).encode())]
    if status == 503:
        headers.append((b"retry-after", b"2"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
