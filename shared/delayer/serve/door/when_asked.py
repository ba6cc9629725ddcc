"""An application that is made with the first request for it: the engine starts no later for it, and needs no memory."""

import asyncio
from collections.abc import Callable

from delayer.serve.door.incoming import Application, Receive, Scope, Send


class MadeWhenAsked:
    """ASGI application. `make` is called once, in another thread, because it may import for a second."""

    def __init__(self, make: Callable[[], Application]) -> None:
        self._make = make
        self._made: Application | None = None
        self._turn = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        async with self._turn:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
        await self._made(scope, receive, send)
