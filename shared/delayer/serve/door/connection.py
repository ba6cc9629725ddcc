"""A connection of uvicorn with the bounds that it lacks: for a slow or long head, and a client that never reads.

It refuses some before there is a request for the application: they get a problem, too.
"""

import asyncio
import re
from asyncio import TimerHandle
from http import HTTPStatus
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from delayer.http.answers import Response, problem, refused
from delayer.serve.door.limits import DoorLimits, HeadTooLarge, NotNow, TooSlow

OFFER: Final = re.compile(rb"\r\nupgrade[ \t]*:", re.IGNORECASE)
NO_OFFER: Final = b"\r\nX-Upgrade:"


class BoundedConnection(HttpToolsProtocol):
    """Of one client. Timers run only while something is missing: a request that comes in one piece has none."""

    def __init__(self, *args: Any, limits: DoorLimits, **named: Any) -> None:
        super().__init__(*args, **named)
        self._limits = limits
        self._is_in_head = False  # of which the beginning has come
        self._head = 0  # bytes that have come since it is waited for
        self._head_timer: TimerHandle | None = None
        self._send_timer: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins to wait for the first request."""
        super().connection_made(transport)
        if len(self.connections) > self._limits.connections:
            self._end(refused(NotNow("The engine has as many connections as it can hold.", after_seconds=1)))
        else:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._forget_timers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Takes what has come. While no request is to be answered, it is part of a head, or nothing that is needed."""
        super().data_received(self._without_offer(data) if b"pgrade" in data else data)
        if self.transport.is_closing():
            return
        if not self._is_in_head and self.cycle is not None and not self.cycle.response_complete:
            self._head = 0
            return
        self._head += len(data)
        if self._is_in_head and self._head > self._limits.head:
            self._end(refused(HeadTooLarge.over(self._limits)))
        elif self._head_timer is None:
            self._wait_for_head()

    def on_message_begin(self) -> None:
        """The first byte of a request has come."""
        self._is_in_head = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The application takes over."""
        self._is_in_head = False
        self._head = 0
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
        if self.parser.should_upgrade():
            raise ValueError("an offer of another protocol, in pieces")
        super().on_headers_complete()

    def pause_writing(self) -> None:
        """The client does not read."""
        super().pause_writing()
        if self._send_timer is None:
            self._send_timer = self.loop.call_later(self._limits.send_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """It does again."""
        super().resume_writing()
        if self._send_timer is not None:
            self._send_timer.cancel()
            self._send_timer = None

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - what was sent is not repeated
        """For what is no HTTP. uvicorn calls it."""
        detail = (
            "The request is not HTTP/1.1 as RFC 9112 has it. The port takes no TLS unless it was given a certificate."
        )
        self._end(problem(400, "not-http", "The request is not HTTP", detail))

    def _without_offer(self, data: bytes) -> bytes:
        """A head without the offer to go on in another protocol, which is not taken.

        Java's client offers HTTP/2 with each call to an http: address. With an offer, the parser leaves out the body.
        """
        if self._is_in_head or (self.cycle is not None and (self.cycle.more_body or not self.cycle.response_complete)):
            return data
        head, end, rest = data.partition(b"\r\n\r\n")
        return OFFER.sub(NO_OFFER, head) + end + rest

    def _wait_for_head(self) -> None:
        self._head_timer = self.loop.call_later(self._limits.head_seconds, self._head_is_late)

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.transport.is_closing():
            return
        if self._is_in_head:
            self._end(refused(TooSlow.after(self._limits.head_seconds, "The headers")))
        else:
            self.transport.close()

    def _end(self, response: Response) -> None:
        """Answers, unless the client would take it for the answer to an earlier request; and closes."""
        awaited = self.cycle is not None and not self.cycle.response_complete
        if not awaited or (self.cycle.more_body and not self.cycle.response_started):
            self.transport.write(in_one_piece(response))
        self.transport.close()

    def _forget_timers(self) -> None:
        for timer in (self._head_timer, self._send_timer):
            if timer is not None:
                timer.cancel()
        self._head_timer = self._send_timer = None


def in_one_piece(response: Response) -> bytes:
    """An answer as it is sent, the last one of its connection."""
    body = response.body.encode("utf-8", "surrogatepass")
    headers = {**response.headers, "Content-Length": len(body), "Connection": "close"}
    lines = [f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}"]
    lines += (f"{name}: {value}" for name, value in headers.items())
    return "\r\n".join((*lines, "", "")).encode("latin-1", "replace") + body
