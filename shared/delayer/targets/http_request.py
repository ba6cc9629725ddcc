"""The action `http-request`."""

import ipaddress
import socket
import ssl
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from functools import cache
from http.client import HTTPConnection, HTTPException
from threading import Timer
from time import monotonic, time
from typing import Final

import msgspec
from attrs import frozen
from urllib3.exceptions import LocationParseError
from urllib3.util import Url, parse_url

from delayer.core.firing.executing import Done, Refused, Result, Retry
from delayer.core.schedule.instants import format_instant
from delayer.core.schedule.messages import ExecutorMessage

TRY_AGAIN: Final = frozenset({408, 425, 429})
DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class HttpRequest(msgspec.Struct):
    """The fields of the action; bounds in openapi.yaml."""

    url: str
    method: str = "POST"
    headers: dict[str, str] = {}
    timeoutSeconds: int = 10  # noqa: N815 - the API's own spelling


Resolve = Callable[[str, int], Iterable[str]]


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, in the resolver's order. Raises OSError."""
    return [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class Forbidden(ValueError):
    """The target may not be reached."""


@frozen(kw_only=True)
class HttpTarget:
    """Port Target.

    The name is resolved here, checked, and the connection made to that very address: a name that
    changes between check and use reaches nothing that was refused (ADR 0025).
    """

    allow_private: bool  # on one machine, the targets are on the same machine
    resolve: Resolve = resolve

    def __call__(self, message: ExecutorMessage) -> Result:
        action = msgspec.json.decode(message.schedule.definition.action, type=HttpRequest)
        deadline = monotonic() + action.timeoutSeconds
        try:
            url = parse_url(action.url)
            address = self._address(url)
        except (LocationParseError, UnicodeError, OverflowError, Forbidden) as error:
            return Refused(f"{action.url}: {error}")
        except OSError as error:
            return Retry(detail=f"{url.host} cannot be resolved: {error}")
        try:
            with _connected(url, address, deadline) as connection:
                return _request(connection, url, action, message)
        except (HTTPException, OSError) as error:
            late = monotonic() >= deadline
            return Retry(detail=f"no answer from {url.netloc}" + (" in time" if late else f": {_reason(error)}"))

    def _address(self, url: Url) -> str:
        host = (url.host or "").strip("[]")
        addresses = list(self.resolve(host, _port(url)))
        if not self.allow_private:
            for address in addresses:
                if not ipaddress.ip_address(address.partition("%")[0]).is_global:
                    raise Forbidden(f"{address} is a private address; the stack allows public targets only")
        return addresses[0]


def _port(url: Url) -> int:
    return url.port or DEFAULT_PORTS[url.scheme or "http"]


@contextmanager
def _connected(url: Url, address: str, deadline: float) -> Iterator[HTTPConnection]:
    """A connection of its own that is cut at the deadline, whatever it waits for then.

    The timeout of a socket starts again with each byte: a target that answers byte by byte would hold up
    its whole batch. The duplicate of the socket can be cut while TLS uses the original.
    """
    left = deadline - monotonic()
    if left <= 0:
        raise TimeoutError("its name was not resolved in time")
    raw = socket.create_connection((address, _port(url)), timeout=left)
    guard = raw.dup()
    cut = Timer(max(deadline - monotonic(), 0), _cut, [guard])
    cut.daemon = True
    cut.start()
    connection = HTTPConnection(url.host or "")
    try:
        connection.sock = raw
        if url.scheme == "https":
            connection.sock = tls_context().wrap_socket(raw, server_hostname=(url.host or "").strip("[]"))
        yield connection
    finally:
        cut.cancel()
        connection.close()
        raw.close()
        guard.close()


def _cut(guard: socket.socket) -> None:
    with suppress(OSError):
        guard.shutdown(socket.SHUT_RDWR)


@cache
def tls_context() -> ssl.SSLContext:
    """Certificates and names are checked; reading the authorities takes a while, so it is done once."""
    return ssl.create_default_context()


def _request(connection: HTTPConnection, url: Url, action: HttpRequest, message: ExecutorMessage) -> Result:
    """One request. Only the status and the headers of the answer are waited for."""
    body = message.schedule.definition.payload.encode() if message.schedule.definition.payload else None
    connection.request(action.method, url.request_uri, body=body, headers=_headers(url, action, message))
    answer = connection.getresponse()
    return _result(answer.status, answer.headers.get("Retry-After") or "")


def _headers(url: Url, action: HttpRequest, message: ExecutorMessage) -> dict[str, str]:
    """The client's own, then ours. The schedule's id is the idempotency key: it is the same on every attempt."""
    given = {name.lower() for name in action.headers}
    defaults = {"Content-Type": "application/json", "User-Agent": "Delayer"}
    return {
        **{name: value for name, value in defaults.items() if name.lower() not in given},
        **action.headers,
        "Host": url.netloc or "",
        "Idempotency-Key": message.schedule.id,
        "Delayer-Schedule-Id": message.schedule.id,
        "Delayer-Point-In-Time": format_instant(message.schedule.point_in_time),
        "Delayer-Attempt": str(message.attempt),
    }


def _result(status: int, retry_after: str) -> Result:
    answer = f"HTTP {status}"
    if 200 <= status < 300:
        return Done(answer)
    if status >= 500 or status in TRY_AGAIN:
        return Retry(detail=answer, after_seconds=_retry_after(retry_after))
    if 300 <= status < 400:
        return Refused(f"{answer}: redirects are not followed")
    return Refused(answer)


def _retry_after(value: str) -> int | None:
    """Seconds, from either form that RFC 9110 allows."""
    if value.isdecimal():
        return int(value[:6])
    try:
        return max(int(parsedate_to_datetime(value).timestamp() - time()), 0)
    except (TypeError, ValueError, OverflowError):
        return None


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
