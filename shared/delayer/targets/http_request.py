"""How the action `http-request` reaches its target: safely, and no longer than it may."""

import re
import socket
import ssl
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from errno import errorcode
from functools import partial
from http.client import HTTPException, HTTPResponse
from ipaddress import IPv4Network, IPv6Network
from time import monotonic
from typing import Any, Final
from urllib.parse import quote

from attrs import evolve, field, frozen
from urllib3.util import Url, parse_url

from delayer.actions.rules.model import Done, Message, Refused, Result, Retry
from delayer.masking.anyhow import MOST_BODY, kept
from delayer.masking.secrets import header_without_secrets, without_secrets
from delayer.targets.http_answer import HttpAnswer, NotHttp, read_answer, read_body
from delayer.targets.http_connections import HttpConnection, HttpConnections, Peer, connect
from delayer.targets.public_addresses import LookUps, Resolve, public_address, resolve

TRY_AGAIN: Final = frozenset({408, 425, 429})
DEFAULT_PORTS: Final = {"http": 80, "https": 443}
FOR_BODY: Final = 2.0  # seconds that the beginning of a body is waited for, once the answer is there
FOR_MASKING: Final = 0.1  # seconds before the deadline at which no more of it is waited for

TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
AFTER_HOST: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\\/?#]*([^#]*)")
STRAY: Final = re.compile("%(?![0-9A-Fa-f]{2})")
VISIBLE: Final = "".join(map(chr, range(0x21, 0x7F)))
HEADER_VALUE: Final = re.compile(r"[\t -~]*")
OF_THE_CONNECTION: Final = frozenset({"content-length", "transfer-encoding", "connection"})
WITH_BODY: Final = frozenset({"PATCH", "POST", "PUT"})  # an empty one has a length, too

# By the codes of OpenSSL. Its own texts name what the other side has sent.
CERTIFICATE: Final = {9: "is not valid yet", 10: "has expired", 62: "is for another name", 64: "is for another address"}


# What the API accepts as a URL, and as the name of a header. A `%` begins an escape, which is sent as it is (ADR 0148).
URL: Final = (
    r"^[Hh][Tt][Tt][Pp][Ss]?://(\[(([0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}|([0-9A-Fa-f]{1,4}:){1,7}:"
    r"|([0-9A-Fa-f]{1,4}:){1,6}(:[0-9A-Fa-f]{1,4}){1,1}|([0-9A-Fa-f]{1,4}:){1,5}(:[0-9A-Fa-f]{1,4}){1,2}"
    r"|([0-9A-Fa-f]{1,4}:){1,4}(:[0-9A-Fa-f]{1,4}){1,3}|([0-9A-Fa-f]{1,4}:){1,3}(:[0-9A-Fa-f]{1,4}){1,4}"
    r"|([0-9A-Fa-f]{1,4}:){1,2}(:[0-9A-Fa-f]{1,4}){1,5}|([0-9A-Fa-f]{1,4}:){1,1}(:[0-9A-Fa-f]{1,4}){1,6}"
    r"|:(:[0-9A-Fa-f]{1,4}){1,7}|::"
    r"|::([Ff]{4}:)?((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9]))\]"
    r"|[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?)*\.?)"
    r"(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
    r"([/?#]([!-$&-~]|%[0-9A-Fa-f]{2})*)?$"
)
HEADER_NAME: Final = (
    r"^(?!(?i:host|content-length|transfer-encoding|connection|idempotency-key|delayer-.*|webhook-.*)$)"
    r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$"
)

ALWAYS: Final = ("content-type", "content-length", "content-encoding", "retry-after", "x-request-id")


def to_keep(names: Iterable[str]) -> frozenset[str]:
    """The headers of an answer that are kept: these, and some that always are."""
    return frozenset({*ALWAYS, *map(str.lower, names)})


@frozen(kw_only=True)
class Request:
    """The request that is to be sent; the payload of the message is its body."""

    url: str
    method: str
    headers: Mapping[str, str]
    timeout: float  # seconds
    idempotency_key: str = ""  # the same on every attempt; empty: the id of the schedule
    signature: Mapping[str, str] = field(factory=dict)  # headers, which the client's never replace (ADR 0104)
    keep: Collection[str] | None = None  # names of headers, in small letters; None: nothing of the answer is kept
    secrets: Collection[str] = field(default=(), repr=False)  # what nobody may read in an answer that is kept
    done: Collection[int] = ()  # statuses other than 2xx that mean success: 409, if the target says so of what it has


class TargetForbidden(ValueError):
    """The target may not be reached. The text says why, in our words."""


class NoReply(ValueError):
    """No answer came, or the call was not made. The text says why, in our words."""


@frozen(kw_only=True)
class HttpTarget:
    """Makes requests.

    The name is resolved here, checked, and the connection made to that very address: a name that
    changes between check and use reaches nothing that was refused (ADR 0025).
    """

    allow_private: bool  # on one machine, the targets are on the same machine
    private: Sequence[IPv4Network | IPv6Network] = ()  # these, if not all of them are allowed
    resolve: Resolve = resolve
    connections: HttpConnections = field(factory=HttpConnections)
    _look_ups: LookUps = field(init=False)

    @_look_ups.default
    def _new_look_ups(self) -> LookUps:
        return LookUps(resolve=self.resolve)

    def send(self, request: Request, message: Message[Any]) -> Result:
        """One attempt."""
        deadline = monotonic() + request.timeout
        try:
            url = target_of(request)
            headers = headers_of(url, request, message)
        except TargetForbidden as error:
            return Refused(str(error), reached=False)
        piece = in_one_piece(request.method, request_target(request.url), headers, message.payload.encode())
        try:
            peer = self._peer(message.owner, url, deadline)
            connection = self._connection(peer, message, deadline)
            try:
                answered, kept = _answer(connection, request, piece, deadline, may_be_kept=message.has_next)
            finally:
                self.connections.release(connection)
            return evolve(result_of(answered, request.done), answer=kept)
        except TargetForbidden as error:
            return Refused(str(error), reached=False)
        except (NotHttp, OSError) as error:
            answer = f"no answer from {(url.netloc or '')[:100]}"
            why = " in time" if monotonic() >= deadline else f": {_reason(error)}"
            return Retry(detail=f"{answer}{why}", is_outage=True)

    def ask(self, request: Request, body: bytes, at_most: int) -> tuple[int, bytes]:
        """One call whose answer is read: its status, and its body up to so many bytes and one more.

        Raises NoReply; a redirect is an answer like any other, and not followed. No connection is kept.
        """
        deadline = monotonic() + request.timeout
        url: Url | None = None
        try:
            url = target_of(request)
            headers = {"Host": url.netloc or "", "User-Agent": "Delayer", **request.headers}
            piece = in_one_piece(request.method, request_target(request.url), headers, body)
            with (
                closing(connect(self._peer("", url, deadline), deadline)) as connection,
                HTTPResponse(connection.sock, method=request.method) as answer,
            ):
                connection.send(piece)
                answer.begin()
                read = answer.read(at_most + 1)
                if monotonic() >= deadline or (answer.length and len(read) <= at_most):
                    raise ConnectionResetError  # it was cut off, here or there: the beginning is no answer
                return answer.status, read
        except TargetForbidden as error:
            raise NoReply(str(error)) from None
        except (OSError, HTTPException) as error:
            where = f"no answer from {((url and url.netloc) or '')[:100]}"
            is_late = monotonic() >= deadline
            raise NoReply(f"{where} in time" if is_late else f"{where}: {_reason(error)}") from None

    def _connection(self, peer: Peer, message: Message[Any], deadline: float) -> HttpConnection:
        """A kept one for a first attempt behind which there may be a second one; else a new one. Raises OSError.

        The target may close a connection while the request is on its way, and nobody knows then whether it has come.
        So nothing is sent again here: it is a failed attempt. It must not be a schedule's last one (ADR 0178).
        """
        kept = self.connections.take(peer, deadline) if message.attempt == 1 and message.has_next else None
        return kept or connect(peer, deadline)

    def _peer(self, owner: str, url: Url, deadline: float) -> Peer:
        """Raises TargetForbidden, or OSError."""
        return Peer(
            owner=owner,
            scheme=url.scheme or "",
            host=(url.host or "").strip("[]"),
            port=_port(url),
            address=self._address(url, deadline),
        )

    def _address(self, url: Url, deadline: float) -> str:
        """The address to connect to. Raises TargetForbidden, or OSError."""
        host = (url.host or "").strip("[]")
        try:
            addresses = self._look_ups.addresses(host, _port(url), deadline - monotonic())
        except ValueError as error:
            raise TargetForbidden(f"not the name of a host: {host}") from error
        if self.allow_private:
            return addresses[0]
        public = [public_address(address, self.private) for address in addresses]
        if not public[0] or None in public:
            raise TargetForbidden(f"not a public address, and the operator has allowed no other: {host}")
        return public[0]


def target_of(request: Request) -> Url:
    """The URL in its parts. Raises TargetForbidden for what the API refuses, and an earlier version may have stored."""
    try:
        url = parse_url(request.url)
    except ValueError as error:
        raise TargetForbidden("not a URL") from error
    if not TOKEN.fullmatch(request.method):
        raise TargetForbidden("not a method of HTTP")
    if url.scheme not in DEFAULT_PORTS or not url.host or url.port == 0:
        raise TargetForbidden("not an absolute http or https URL")
    if url.auth is not None:
        raise TargetForbidden("a URL with a user name or password")
    return url


def request_target(url: str) -> str:
    """Path and query as they were accepted, byte for byte: a signature of a URL covers each of them (ADR 0148).

    A fragment is nobody's but the client's. What is no visible ASCII is escaped, and so is a stray `%`.
    """
    rest = STRAY.sub("%25", quote(_after_host(url), safe=VISIBLE))
    return rest if rest.startswith("/") else f"/{rest}"


def has_stray_percent(url: str) -> bool:
    """Whether a `%` in it begins no escape: the API refuses that now, and an earlier version may have stored it."""
    return STRAY.search(_after_host(url)) is not None


def _after_host(url: str) -> str:
    """Path and query, without a fragment."""
    found = AFTER_HOST.match(url)
    return found[1] if found else ""


def _port(url: Url) -> int:
    return url.port or DEFAULT_PORTS[url.scheme or "http"]


def in_one_piece(method: str, target: str, headers: Mapping[str, str], body: bytes) -> bytes:
    """Head and body as they are sent. Raises ValueError for what is no text of a head."""
    lines = [f"{method} {target} HTTP/1.1"]
    if "accept-encoding" not in map(str.lower, headers):
        lines.append("Accept-Encoding: identity")
    if body or method.upper() in WITH_BODY:
        lines.append(f"Content-Length: {len(body)}")
    lines += (f"{name}: {value}" for name, value in headers.items())
    head = "\r\n".join((*lines, "", ""))
    if not head.count("\r") == head.count("\n") == len(lines) + 1:
        raise ValueError("a line of the head that is two")
    return head.encode("latin-1") + body


def _answer(
    connection: HttpConnection, request: Request, piece: bytes, deadline: float, *, may_be_kept: bool
) -> tuple[HttpAnswer, str]:
    """To one request, and what is kept of it. Only the status and the headers are waited for."""
    began, keep = monotonic(), request.keep
    connection.send(piece)
    answer, text, is_whole = read_answer(connection.readline, keep or ()), "", False
    if keep is not None:
        millis = round((monotonic() - began) * 1000)
        text, is_whole = _kept(connection, answer, request, millis, deadline)
    if may_be_kept and (keep is None or is_whole):  # else the rest of its body would be read as the next answer
        connection.answered(answer, is_body_read=is_whole)
    return answer, text


def _kept(
    connection: HttpConnection, answer: HttpAnswer, request: Request, millis: int, deadline: float
) -> tuple[str, bool]:
    """The text, and whether the body was read to its end.

    The answer has come: a body that drips, or breaks off, changes nothing about it.

    The deadline of the attempt is that of all this, too: of waiting for the body, and of masking what has come.
    """
    names, secrets = request.keep or (), request.secrets
    until = min(deadline - FOR_MASKING, monotonic() + FOR_BODY)

    def read(number: int) -> bytes:
        left = until - monotonic()
        if left <= 0:
            raise TimeoutError
        connection.sock.settimeout(left)
        return connection.read(number)

    body, is_whole = read_body(read, answer, MOST_BODY)
    is_whole = is_whole and monotonic() < until
    try:
        headers = ((name, header_without_secrets(value, secrets)) for name, value in answer.headers if name in names)
        shown = without_secrets(body, secrets, is_whole=is_whole)
        is_over = partial(_is_over, deadline)
        return kept(answer.status, millis, headers, shown, is_whole=is_whole, is_over=is_over), is_whole
    except Exception as error:  # noqa: BLE001 - whatever the target has sent, its status counts
        return kept(answer.status, millis, [("x-not-kept", type(error).__name__)], None, is_whole=False), False


def _is_over(deadline: float) -> bool:
    return monotonic() >= deadline


def headers_of(url: Url, request: Request, message: Message[Any]) -> dict[str, str]:
    """The client's own, then ours. The schedule's id is the idempotency key, if the request has no other.

    Raises TargetForbidden for a header that would be read as something else.
    """
    ours = {
        "Host": url.netloc or "",
        "Idempotency-Key": request.idempotency_key or message.schedule_id,
        "Delayer-Schedule-Id": message.schedule_id,
        "Delayer-Point-In-Time": message.due,
        "Delayer-Attempt": str(message.attempt),
        **request.signature,
    }
    for name, value in request.headers.items():
        if not (TOKEN.fullmatch(name) and HEADER_VALUE.fullmatch(value)):
            raise TargetForbidden("a header with characters that HTTP does not allow")
    reserved = {name.lower() for name in ours} | OF_THE_CONNECTION
    given = {name: value for name, value in request.headers.items() if name.lower() not in reserved}
    named = {name.lower() for name in given}
    defaults = {"Content-Type": "application/json", "User-Agent": "Delayer"}
    return {**{name: value for name, value in defaults.items() if name.lower() not in named}, **given, **ours}


def result_of(answer: HttpAnswer, done: Collection[int]) -> Result:
    """Of the answer only the status is shown to anybody."""
    status = f"HTTP {answer.status}"
    if 200 <= answer.status < 300 or answer.status in done:
        return Done(status)
    if answer.status >= 500 or answer.status in TRY_AGAIN:
        return Retry(detail=status, after_seconds=answer.retry_after, is_outage=answer.status >= 500)
    if 300 <= answer.status < 400:
        return Refused(f"{status}: redirects are not followed")
    return Refused(status)


def _reason(error: Exception) -> str:
    """Why there was no answer, in our words: the exception's own text may be the target's."""
    match error:
        case TimeoutError():
            return "it took too long"
        case socket.gaierror():
            return "its name cannot be resolved"
        case ssl.SSLCertVerificationError():
            return f"its certificate {CERTIFICATE.get(error.verify_code, 'is not trusted')}"
        case ssl.SSLError():
            return "TLS failed"
        case ConnectionRefusedError():
            return "the connection was refused"
        case ConnectionError():
            return "the connection was closed"
        case OSError():
            return f"it cannot be reached ({errorcode.get(error.errno or 0, 'unknown')})"
    return "what it sent is not HTTP"
