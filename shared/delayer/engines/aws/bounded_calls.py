"""No call of AWS outlives its part of the invocation's time (ADR 0073), and no connection reads the authorities anew.

botocore's timeouts are those of each attempt and each read, not of a call: four attempts at a service that hangs take
more than eight seconds, and an answer that trickles takes for ever. Here each step of a call, from the name lookup to
the last byte of the answer, gets what is left of the call's own time.

botocore hands the file of the authorities to each connection, which reads it once more: 35 ms of processor time, that
is a fifth of a second in a function of 256 MB. Here all connections of all clients share one context for each such
file, which is read once, when the first client is made (ADR 0164).
"""

import logging
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from queue import Empty, SimpleQueue
from ssl import SSLContext, SSLSocket
from threading import Thread, local
from typing import Any, Final

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)
from botocore.exceptions import BotoCoreError
from botocore.httpsession import create_urllib3_context, get_cert_path
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

MARGIN: Final = 0.1  # of the time that Lambda gives is kept for the answer,
MOST_MARGIN: Final = 2.0  # but not more than these seconds
GATEWAY_WAITS_LONGER: Final = 2.0  # seconds; the timeout of an integration less that of its function
GATEWAY_LIMIT: Final = 30.0  # seconds; a request that seems older than any gateway waits was stamped by another clock
SHARE: Final = 0.5  # of what is left, for one call with its retries
NEVER: Final = float("inf")
SHORTEST: Final = 0.02  # seconds; with less, a call is not begun
NEXT_ATTEMPT: Final = 0.2  # seconds that must be left for another attempt, after the pause before it
ENDS: Final = "delayer-ends"  # in the context of a request, which all attempts of a call share


class Deadline:
    """The instant at which an invocation must be ready to answer.

    There is one for the whole process: Lambda runs one invocation at a time in it, and all threads work for that one.
    """

    def __init__(self) -> None:
        self._at = NEVER
        self.share = SHARE  # a function that makes one call alone gives it all

    def begin(self, event: object, context: object) -> None:
        """An invocation begins. Without Lambda's context, as in a test, there is no deadline."""
        remaining = getattr(context, "get_remaining_time_in_millis", None)
        if remaining is None:
            self._at = NEVER
            return
        seconds: float = remaining() / 1000
        self._at = time.monotonic() + seconds - min(seconds * MARGIN, MOST_MARGIN) - _lost(event)

    def left(self) -> float:
        """Seconds; infinite if there is no deadline, negative if it has passed."""
        return self._at - time.monotonic()

    def end_of_call(self) -> float:
        """When a call that begins now must end, by time.monotonic.

        It gets only a part of what is left. What comes after a call that hangs, such as the hand-over after a claim or
        the next message of the batch, finds time of its own.
        """
        return time.monotonic() + self.left() * self.share


def _lost(event: object) -> float:
    """Seconds that the start of the function took from its answer: the gateway began to wait before it."""
    match event:
        case {"requestContext": {"timeEpoch": int() | float() as received}}:
            waited = time.time() - received / 1000
            return max(waited - GATEWAY_WAITS_LONGER, 0) if waited < GATEWAY_LIMIT else 0
    return 0


DEADLINE: Final = Deadline()


log = logging.getLogger("delayer.engines")
_thread = local()  # its `ends`: when the call that this thread makes must end; botocore makes a call in one thread


class NoTimeLeft(BotoCoreError):
    """The call was not begun. botocore does not repeat this error."""

    fmt = "the time of this invocation is used up"


def bounded(client: Any) -> Any:
    """The same client; each of its calls ends in time."""
    service = client.meta.service_model.service_id.hyphenize()
    client.meta.events.register_first(f"request-created.{service}", _begin)
    client.meta.events.register_first(f"needs-retry.{service}", _stop_retries)
    try:
        session = client._endpoint.http_session
        _bound_sockets(session._manager)
        if client.meta.endpoint_url.startswith("https:") and session._verify:
            with suppress(OSError):  # then each connection says so
                trusting(get_cert_path(session._verify))  # while it starts, a function has a whole processor
    except (AttributeError, KeyError) as error:
        # The botocore in Lambda is not ours to pin. With another one inside, an attempt may end some seconds too late.
        log.warning("calls of AWS are bounded by the timeouts of their attempts only: %r", error)
    return client


def _bound_sockets(connections: Any) -> None:
    """botocore has no public way to them. `connections` is urllib3's, and makes them by these classes."""
    context: SSLContext = connections.connection_pool_kw["ssl_context"]
    connections.pool_classes_by_scheme.update(http=_PlainPool, https=_TlsPool)
    context.sslsocket_class = _TlsSocket


@cache
def trusting(authorities: str) -> SSLContext:
    """botocore's own context, with the certificates of a file or a folder, as urllib3 would read them each time."""
    context: SSLContext = create_urllib3_context()
    context.sslsocket_class = _TlsSocket
    context.load_verify_locations(**{"capath" if Path(authorities).is_dir() else "cafile": authorities})
    return context


def _begin(request: Any, **_: object) -> None:
    """Before each attempt, in the thread that makes it. The first fixes the end of the call."""
    del request.headers["Expect"]  # before the body of an object, botocore would wait a second for "100 Continue"
    _thread.ends = request.context.setdefault(ENDS, DEADLINE.end_of_call())
    if _left() < SHORTEST:
        raise NoTimeLeft


def _stop_retries(attempts: int, **_: object) -> bool | None:
    """False: no further attempt. botocore's pause before it would be up to 1 s, 2 s, 4 s…, whatever is left."""
    return False if _left() < 2 ** (attempts - 1) + NEXT_ATTEMPT else None


def _left() -> float:
    """Seconds that this thread's call may still take."""
    ends: float = getattr(_thread, "ends", NEVER)
    return ends - time.monotonic()


class _Socket(socket.socket):
    """Waits for nothing longer than the call of its thread may take."""

    def limit(self) -> None:
        """A timeout of its own that is shorter stays."""
        left = _left()
        if left <= 0:
            raise TimeoutError("the time of this call is used up")
        if left != NEVER:
            self.settimeout(min(left, self.gettimeout() or left))

    def recv_into(self, *arguments: Any, **named: Any) -> int:
        self.limit()
        return super().recv_into(*arguments, **named)

    def send(self, *arguments: Any, **named: Any) -> int:
        self.limit()
        return super().send(*arguments, **named)

    def sendall(self, *arguments: Any, **named: Any) -> None:
        self.limit()
        return super().sendall(*arguments, **named)

    def connect(self, *arguments: Any) -> None:
        self.limit()
        return super().connect(*arguments)


class _TlsSocket(_Socket, SSLSocket):
    """The same, encrypted. The handshake takes the timeout that the connecting has left."""


class _PlainConnection(AWSHTTPConnection):
    def _new_conn(self) -> socket.socket:
        return _connected(self)


class _TlsConnection(AWSHTTPSConnection):
    ca_certs: str | None
    ssl_context: SSLContext

    def connect(self) -> None:
        if self.ca_certs:  # what is named here would be read for this connection alone
            self.ssl_context, self.ca_certs = trusting(self.ca_certs), None
        super().connect()

    def _new_conn(self) -> socket.socket:
        return _connected(self)


class _PlainPool(AWSHTTPConnectionPool):
    ConnectionCls = _PlainConnection


class _TlsPool(AWSHTTPSConnectionPool):
    ConnectionCls = _TlsConnection


def _connected(connection: Any) -> socket.socket:
    """To the first address that answers; all of them together get what is left. Raises as urllib3 does."""
    error: Exception = OSError("the name has no address")
    try:
        for family, kind, protocol, _, address in _resolved(connection.host, connection.port):
            made = _Socket(family, kind, protocol)
            try:
                for option in connection.socket_options or ():
                    made.setsockopt(*option)
                made.settimeout(connection.timeout)
                made.connect(address)
                return made
            except OSError as refused:
                made.close()
                error = refused
    except (OSError, UnicodeError) as unknown:
        error = unknown
    if isinstance(error, TimeoutError):
        raise ConnectTimeoutError(connection, f"no connection to {connection.host} in time") from error
    raise NewConnectionError(connection, f"no connection to {connection.host}: {error}") from error


Addresses = list[tuple[Any, ...]]


def _resolved(host: str, port: int) -> Addresses:
    """The lookup of a name knows no timeout. One that hangs is left to itself, in a thread of its own."""

    def lookup() -> Addresses | OSError:
        try:
            return list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except OSError as unknown:
            return unknown

    found = _in_time(lookup)
    if isinstance(found, OSError):
        raise found
    return found


def _in_time(lookup: Callable[[], Addresses | OSError]) -> Addresses | OSError:
    if _left() == NEVER:
        return lookup()
    answer: SimpleQueue[Addresses | OSError] = SimpleQueue()
    Thread(target=lambda: answer.put(lookup()), daemon=True).start()
    try:
        return answer.get(timeout=max(_left(), 0))
    except Empty:
        return TimeoutError("the name was not found in time")
