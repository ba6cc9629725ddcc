"""The body of a request as it comes: in time, and within what the door can hold."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from types import TracebackType
from typing import Any, Final, Self

from delayer.http.problem import TooLarge
from delayer.serve.door.limits import DoorLimits, NotNow, TooSlow

# ASGI's own messages: which keys they have depends on their type.
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

FULL: Final = "The engine holds as much of other calls as it can."


class HeldBodies:
    """How much the bodies of all calls have together. Only the thread of the loop changes it."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._bytes = 0

    def add(self, size: int) -> None:
        """Raises NotNow if it would be too much."""
        if self._bytes + size > self._most:
            raise NotNow(FULL, after_seconds=1)
        self._bytes += size

    def remove(self, size: int) -> None:
        """Gives back what was added before."""
        self._bytes -= size


class Incoming:
    """Reads one body, and holds it until the `with` ends: as long as the call waits for its answer."""

    def __init__(self, receive: Receive, limits: DoorLimits, held: HeldBodies) -> None:
        self.is_whole = False  # its end has come
        self._receive = receive
        self._limits = limits
        self._held = held
        self._kept: list[bytes] = []
        self._size = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._forget()

    async def body(self, headers: Mapping[str, str]) -> bytes | None:
        """None if the client is gone. Raises TooLarge, TooSlow, or NotNow."""
        if headers.get("expect", "").lower() == "100-continue" and self._is_too_large(headers):
            raise self._too_large()  # it asks before it sends anything
        try:
            async with asyncio.timeout(self._limits.body_seconds):
                is_there = await self._read()
        except TimeoutError:
            raise TooSlow.after(self._limits.body_seconds, "The whole body") from None
        if self._size > self._limits.body:
            raise self._too_large()
        return b"".join(self._kept) if is_there else None

    async def _read(self) -> bool:
        """Whether the client is there. Nothing is kept of a body that is too large."""
        while not self.is_whole and self._size <= self._limits.discarded:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                return False
            chunk = message.get("body", b"")
            self.is_whole = not message.get("more_body", False)
            self._size += len(chunk)
            if self._size > self._limits.body:
                self._forget()
            elif chunk:
                self._held.add(len(chunk))
                self._kept.append(chunk)
        return True

    def _forget(self) -> None:
        self._held.remove(sum(map(len, self._kept)))
        self._kept.clear()

    def _is_too_large(self, headers: Mapping[str, str]) -> bool:
        declared = headers.get("content-length", "")
        return declared.isascii() and declared.isdigit() and (len(declared) > 15 or int(declared) > self._limits.body)

    def _too_large(self) -> TooLarge:
        return TooLarge(f"The body is larger than {self._limits.body:,} bytes, which no call may be.")
