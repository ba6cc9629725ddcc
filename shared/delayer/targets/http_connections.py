"""Connections to the targets of HTTP requests, each of which is kept a moment for the next request (ADR 0178)."""

import socket
import ssl
from collections.abc import Callable
from contextlib import ExitStack
from functools import cache
from threading import Lock
from time import monotonic, time
from typing import Final

from attrs import define, field, frozen

from delayer.targets.deadlines import deadlines
from delayer.targets.http_answer import HttpAnswer, has_ended

KEPT_SECONDS: Final = 1.5  # less than two: there are servers that close what was idle for two
MOST_KEPT: Final = 64  # at a time, to all targets together
RECEIVED: Final = 8192  # bytes at most, at once
QUICK_ACK: Final = getattr(socket, "TCP_QUICKACK", None)  # only Linux has it


@frozen(kw_only=True)
class Peer:
    """The other end of a connection, and for whom it is: another owner has other connections."""

    owner: str
    scheme: str
    host: str  # without brackets; its certificate is for this name
    port: int
    address: str  # that was checked for this attempt


@define(kw_only=True, eq=False)
class HttpConnection:
    """An open connection, which is cut at the deadline of whoever uses it."""

    peer: Peer
    sock: socket.socket
    number: int  # among the deadlines
    _held: bytearray = field(factory=bytearray, init=False)  # received, and not read yet
    _answer: HttpAnswer | None = field(default=None, init=False)  # whose end is still to be seen
    _is_body_read: bool = field(default=False, init=False)

    def send(self, piece: bytes) -> None:
        """A whole request. Raises OSError.

        Each packet is acknowledged at once: a server that waits for that before it sends on would wait 40 ms.
        """
        self.sock.sendall(piece)
        if QUICK_ACK is not None:
            self.sock.setsockopt(socket.IPPROTO_TCP, QUICK_ACK, 1)

    def readline(self, at_most: int) -> bytes:
        """A line with its end; or as many bytes, or what there is before the connection ends. Raises OSError."""
        seen = 0
        while (end := self._held.find(b"\n", seen) + 1) == 0 and len(self._held) < at_most:
            seen = len(self._held)
            if not self._receive():
                break
        return self._taken(min(end or at_most, at_most))

    def read(self, at_most: int) -> bytes:
        """Some bytes, at most so many; none at the end of the connection. Raises OSError."""
        if not self._held:
            self._receive()
        return self._taken(at_most)

    def _receive(self) -> bool:
        received = self.sock.recv(RECEIVED)
        self._held += received
        return bool(received)

    def _taken(self, number: int) -> bytes:
        found = bytes(self._held[:number])
        del self._held[:number]
        return found

    def answered(self, answer: HttpAnswer, *, is_body_read: bool) -> None:
        """The last request was answered; another one may follow when that answer has come to its end."""
        self._answer, self._is_body_read = answer, is_body_read

    @property
    def keeps_for(self) -> float:
        """Seconds for which it may wait for the next request; 0 if there may be none."""
        return min(KEPT_SECONDS, self._answer.keeps_for) if self._answer else 0

    def rest(self) -> None:
        """It waits for the next request, and is cut when that has not come in time."""
        deadlines().move(self.number, monotonic() + self.keeps_for)

    def wake(self, deadline: float) -> bool:
        """Whether it can take a request that has to be answered by then (monotonic). It waits for nothing."""
        deadlines().move(self.number, deadline)
        is_clear, left = self._is_clear(), deadline - monotonic()
        self._answer = None
        if not is_clear or left <= 0:
            return False
        self.sock.settimeout(left)
        return True

    def _is_clear(self) -> bool:
        """Whether the last answer has come to its end, and neither anything else has come nor the end of it all."""
        self.sock.settimeout(0)
        if not self._answer or not has_ended(self.read, self._answer, is_body_read=self._is_body_read) or self._held:
            return False
        try:
            self.sock.recv(1)
        except (BlockingIOError, ssl.SSLWantReadError):  # tickets of TLS are read here, and are nothing
            return True
        except OSError:
            return False
        return False

    def close(self) -> None:
        """Nobody uses it any more."""
        deadlines().forget(self.number)
        self.sock.close()


def connect(peer: Peer, deadline: float) -> HttpConnection:
    """A new one. Raises OSError, TimeoutError among them; RuntimeError if there can be no thread for deadlines."""
    left = deadline - monotonic()
    if left <= 0:
        raise TimeoutError
    with ExitStack() as if_it_fails:
        sock = if_it_fails.enter_context(socket.create_connection((peer.address, peer.port), timeout=left))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        number = deadlines().watch(sock, deadline)
        if_it_fails.callback(deadlines().forget, number)
        if peer.scheme == "https":
            sock = tls_context().wrap_socket(sock, server_hostname=peer.host)
        if_it_fails.pop_all()
    return HttpConnection(peer=peer, sock=sock, number=number)


@cache
def tls_context() -> ssl.SSLContext:
    """Certificates and names are checked; reading the authorities takes a while, so it is done once."""
    return ssl.create_default_context()


@frozen(kw_only=True)
class HttpConnections:
    """Those that wait for their next request.

    Two clocks must agree that one is young enough. That of the machine (monotonic) may stand still while a function is
    frozen, and that of the world may be set back.
    """

    now: Callable[[], float] = monotonic
    world_now: Callable[[], float] = time
    _idle: list[tuple[float, float, HttpConnection]] = field(factory=list, init=False)  # until when, by either clock
    _lock: Lock = field(factory=Lock, init=False)

    def take(self, peer: Peer, deadline: float) -> HttpConnection | None:
        """The one that was used last, if there is any that can be used. Raises nothing."""
        while connection := self._youngest(peer):
            if connection.wake(deadline):
                return connection
            connection.close()
        return None

    def release(self, connection: HttpConnection) -> None:
        """Its user has done with it: it is kept, if the answer allows that, or closed."""
        seconds = connection.keeps_for
        if seconds <= 0:
            connection.close()
            return
        connection.rest()
        with self._lock:
            self._idle.append((self.now() + seconds, self.world_now() + seconds, connection))
            over = self._without_old()
            if len(self._idle) > MOST_KEPT:
                over.append(self._idle.pop(0)[-1])
        _close(over)

    def _youngest(self, peer: Peer) -> HttpConnection | None:
        found = None
        with self._lock:
            over = self._without_old()
            for at in range(len(self._idle) - 1, -1, -1):
                if self._idle[at][-1].peer == peer:
                    found = self._idle.pop(at)[-1]
                    break
        _close(over)
        return found

    def _without_old(self) -> list[HttpConnection]:
        """Those that were too old, and are not among the others any more."""
        now, world_now = self.now(), self.world_now()
        over = [one for one in self._idle if now >= one[0] or world_now >= one[1]]
        for one in over:
            self._idle.remove(one)
        return [connection for _, _, connection in over]


def _close(connections: list[HttpConnection]) -> None:
    for one in connections:
        one.close()
