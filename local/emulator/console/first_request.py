"""The console beside the API, which is imported when it is asked for first: so the stack starts no later for it."""

import asyncio
import sys

from local.emulator.asgi import Application, Receive, Scope, Send
from local.project import PROJECT

PREFIX = "/console"


def is_console(path: str) -> bool:
    """Whether a path is one of the console's."""
    return path == PREFIX or path.startswith(f"{PREFIX}/")


class Console:
    """ASGI application. It has guards of its own, because a link from elsewhere may open it."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.application: Application | None = None
        self.turn = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        async with self.turn:
            if self.application is None:
                self.application = await asyncio.to_thread(made, self.port)
        await self.application(scope, receive, send)


def made(port: int) -> Application:
    """Of this checkout, whichever one the environment has installed."""
    folder = str(PROJECT / "client")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    from delayer_client.console import application, place_of
    from delayer_client.transport.credentials import Nothing

    return application(place_of(f"http://localhost:{port}", credentials=Nothing()))
