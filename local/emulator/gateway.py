"""The stable address of the API: requests to its port become requests to the stack's HTTP API.

The gateway runs in the emulator's process, so it adds no network hop.
"""

import asyncio
import json
from collections.abc import Callable
from urllib.parse import quote

from local.emulator.asgi import Application, Receive, Scope, Send, body_of, respond

LOCAL_HOSTS = ("localhost", "127.0.0.1")


class Gateway:
    """ASGI middleware around the emulator: it serves the API's port and the path `/_local/api` of the AWS port.

    It also refuses requests of web pages. `prepare` runs before the API is served, and returns what failed, or "".
    """

    def __init__(self, emulator: Application, api_port: int, prepare: Callable[[], str] = str) -> None:
        self.emulator = emulator
        self.api_port = api_port
        self.prepare = prepare
        self.api_id: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request of either port."""
        if scope["type"] != "http":
            await self.emulator(scope, receive, send)
        elif refusal := refusal_of(scope, self.api_port):
            await respond(send, 403, refusal)
        elif scope["server"][1] == self.api_port:
            await self.serve_api(scope, receive, send)
        elif scope["path"] == "/_local/api" and scope["method"] == "PUT":
            await self.open_api(receive, send)
        else:
            await self.emulator(scope, receive, send)

    async def open_api(self, receive: Receive, send: Send) -> None:
        """Take the id of the stack's HTTP API from `{"apiId": …}`, and serve this API from now on."""
        api_id = json.loads(await body_of(receive))["apiId"]
        if failure := await asyncio.to_thread(self.prepare):
            await respond(send, 500, failure)
        else:
            self.api_id = api_id
            await respond(send, 200, "The address serves this API now.")

    async def serve_api(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request of the API's port. The response is 503 until the stack has been created."""
        if self.api_id is None:
            await respond(send, 503, "The stack is being created; try again in a few seconds.")
        else:
            await self.emulator(rewritten(scope, self.api_id), receive, send)


def rewritten(scope: Scope, api_id: str) -> Scope:
    """The scope of the same request, addressed to the `$default` stage of an HTTP API of the emulator."""
    prefix = f"/_aws/execute-api/{api_id}/$default"
    raw_path = scope.get("raw_path") or quote(scope["path"]).encode()
    return {**scope, "path": prefix + scope["path"], "raw_path": prefix.encode() + raw_path}


def refusal_of(scope: Scope, api_port: int) -> str | None:
    """Why a request is refused, or None.

    The emulator runs the code that anyone uploads to it, so a web page in the user's browser must not reach it. A page
    of a foreign site either names its own host (DNS rebinding) or sends an Origin.
    """
    headers = dict(scope["headers"])
    host = headers.get(b"host", b"localhost").decode("latin-1").rsplit(":", 1)[0]
    if host not in LOCAL_HOSTS and not host.endswith(".localhost"):
        return f"This address accepts requests to localhost and 127.0.0.1 only, not to {host}."
    if b"origin" in headers and scope["server"][1] != api_port:
        return "The emulator accepts no requests from web pages."
    return None
