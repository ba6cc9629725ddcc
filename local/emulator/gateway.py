"""The stable address of the API: requests to its port become requests to the stack's HTTP API.

The gateway runs in the emulator's process, so it adds no network hop.
"""

import asyncio
import json
from collections.abc import Callable
from urllib.parse import quote

from delayer.http.web_pages import Doorkeeper
from local.emulator.asgi import Application, Receive, Scope, Send, body_of, headers_of, respond
from local.emulator.console.first_request import is_console

DOOR = Doorkeeper(own_pages=True, subdomains=False)


class Gateway:
    """The API's port. It refuses requests of other web pages, because the API asks for no credentials here.

    `prepare` starts the functions, and returns what failed, or "". `console` is served beside the API, if there is one.
    """

    def __init__(
        self, emulator: Application, prepare: Callable[[], str] = str, console: Application | None = None
    ) -> None:
        self.emulator = emulator
        self.prepare = prepare
        self.console = console
        self.api_id: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. The response is 503 until the stack has been created."""
        if self.console and is_console(scope["path"]):
            await self.console(scope, receive, send)
        elif refusal := DOOR.refusal_of(headers_of(scope)):
            await respond(send, 403, refusal)
        elif self.api_id is None:
            await respond(send, 503, "The stack is being created; try again in a few seconds.")
        else:
            await self.emulator(rewritten(scope, self.api_id), receive, send)

    async def open_api(self, receive: Receive, send: Send) -> None:
        """Take the id of the stack's HTTP API from `{"apiId": …}`, and serve this API from now on."""
        self.api_id = json.loads(await body_of(receive))["apiId"]
        await respond(send, 200, "The address serves this API now.")

    async def start_functions(self, receive: Receive, send: Send) -> None:
        """Start each function once."""
        await body_of(receive)
        if failure := await asyncio.to_thread(self.prepare):
            await respond(send, 500, failure)
        else:
            await respond(send, 200, "Every function has started.")


def rewritten(scope: Scope, api_id: str) -> Scope:
    """The scope of the same request, addressed to the `$default` stage of an HTTP API of the emulator."""
    prefix = f"/_aws/execute-api/{api_id}/$default"
    raw_path = scope.get("raw_path") or quote(scope["path"]).encode()
    return {**scope, "path": prefix + scope["path"], "raw_path": prefix.encode() + raw_path}
