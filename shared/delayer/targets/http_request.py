"""The action `http-request`."""

import ipaddress
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from threading import Timer
from time import time
from typing import Final

import msgspec
from attrs import frozen
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError, LocationParseError
from urllib3.util import Url, parse_url

from delayer.core.executing import Done, Refused, Result, Retry
from delayer.core.instants import format_instant
from delayer.core.wire import ExecutorMessage

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


@frozen(kw_only=True)
class HttpTarget:
    """Port Target.

    The name is resolved here, checked, and the connection made to that very address: a name that
    changes between check and use reaches nothing that was refused (ADR 0025).
    """

    allow_private: bool  # on one machine, targets are on it
    resolve: Resolve = resolve

    def __call__(self, message: ExecutorMessage) -> Result:
        action = msgspec.json.decode(message.action, type=HttpRequest)
        try:
            url = parse_url(action.url)
            address = self._address(url)
        except (LocationParseError, UnicodeError, Forbidden) as error:
            return Refused(f"{action.url}: {error}")
        except OSError as error:
            return Retry(f"{url.host} cannot be resolved: {error}")
        return _request(url, address, action, message)

    def _address(self, url: Url) -> str:
        host = (url.host or "").strip("[]")
        addresses = list(self.resolve(host, url.port or DEFAULT_PORTS[url.scheme or "http"]))
        if not addresses:
            raise OSError("it has no address")
        if not self.allow_private:
            for address in addresses:
                if not ipaddress.ip_address(address.partition("%")[0]).is_global:
                    raise Forbidden(f"{address} is a private address; the stack allows public targets only")
        return addresses[0]


class Forbidden(ValueError):
    """The target may not be reached."""


def _request(url: Url, address: str, action: HttpRequest, message: ExecutorMessage) -> Result:
    """One request on a connection of its own; nothing of the answer but status and headers is waited for."""
    connection = _connection(url, address, action.timeoutSeconds)
    cut = Timer(action.timeoutSeconds, _cut, [connection])
    cut.start()
    try:
        connection.request(
            action.method,
            url.request_uri,
            body=message.payload.encode() if message.payload else None,
            headers=_headers(url, action, message),
            preload_content=False,
        )
        answer = connection.getresponse()
        return _result(answer.status, answer.headers)
    except (HTTPError, HTTPException, OSError) as error:
        late = not cut.is_alive()
        return Retry(
            f"no answer from {url.netloc} within {action.timeoutSeconds} s"
            if late
            else f"no answer from {url.netloc}: {_reason(error)}"
        )
    finally:
        cut.cancel()
        connection.close()


def _cut(connection: HTTPConnection) -> None:
    """A socket's timeout is for each byte; a target that drips its answer would hold up its whole batch."""
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(socket.SHUT_RDWR)


def _connection(url: Url, address: str, timeout: int) -> HTTPConnection:
    """To the checked address; TLS asks for the name all the same."""
    port = url.port or DEFAULT_PORTS[url.scheme or "http"]
    if url.scheme == "https":
        host = (url.host or "").strip("[]")
        return HTTPSConnection(address, port, timeout=timeout, server_hostname=host)
    return HTTPConnection(address, port, timeout=timeout)


def _headers(url: Url, action: HttpRequest, message: ExecutorMessage) -> dict[str, str]:
    """The client's own, then ours. The schedule's id is the idempotency key: it is the same on every attempt."""
    given = {name.title(): value for name, value in action.headers.items()}
    return {
        "Content-Type": "application/json",
        "User-Agent": "Delayer",
        **given,
        "Host": url.netloc or "",
        "Idempotency-Key": message.id,
        "Delayer-Schedule-Id": message.id,
        "Delayer-Point-In-Time": format_instant(message.point_in_time),
        "Delayer-Attempt": str(message.attempt),
    }


def _result(status: int, headers: Mapping[str, str]) -> Result:
    answer = f"HTTP {status}"
    if 200 <= status < 300:
        return Done(answer)
    if status >= 500 or status in TRY_AGAIN:
        return Retry(answer, _retry_after(headers.get("Retry-After", "")))
    if 300 <= status < 400:
        return Refused(f"{answer}: redirects are not followed")
    return Refused(answer)


def _retry_after(value: str) -> int | None:
    """Seconds, from either form that RFC 9110 allows."""
    if value.isdecimal():
        return int(value[:6])
    try:
        return max(int(parsedate_to_datetime(value).timestamp() - time()), 0)
    except (TypeError, ValueError):
        return None


def _reason(error: Exception) -> str:
    """Without the addresses of Python objects that urllib3 puts first."""
    return str(error).rpartition(">: ")[2] or type(error).__name__
