"""The action http-request, against a real server on this machine."""

import contextlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from delayer.core.firing.executing import Done, Refused, Result, Retry
from delayer.core.schedule.messages import ExecutorMessage
from delayer.targets.http_request import HttpTarget, tls_context
from tests.samples import NOW, an_executor_message, an_id

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers as the test says, and remembers what it was sent."""

    server: "Server"

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        headers = [(name.lower(), value) for name, value in self.headers.items()]
        self.server.requests.append((self.command, self.path, dict(headers), self.rfile.read(length)))
        assert len(dict(headers)) == len(headers), "no header twice"
        self.server.reply(self)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - their names in the standard library

    def log_message(self, *_: Any) -> None:
        """Silent."""


class Server(ThreadingHTTPServer):
    """On a free port of 127.0.0.1."""

    daemon_threads = True
    reply: Answer
    requests: list[tuple[str, str, dict[str, str], bytes]]


def status(code: int, **headers: str) -> Answer:
    def reply(handler: Handler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return reply


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def server(running: Server) -> Server:
    running.requests = []
    running.reply = status(204)
    return running


def message(server: Server | None = None, url: str = "", payload: str = '{"a": 1}', **fields: Any) -> ExecutorMessage:
    url = url or f"http://target.example:{server.server_port if server else 1}/hook?x=1"
    action = json.dumps({"type": "http-request", "url": url, **fields})
    return an_executor_message(NOW + 250, action=action, payload=payload, attempt=3)


def to_this_machine(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]


target = HttpTarget(allow_private=True, resolve=to_this_machine)


def test_what_is_sent(server: Server) -> None:
    """The schedule's id is the idempotency key: the same on every attempt."""
    assert target(message(server)) == Done("HTTP 204")
    [(method, path, headers, body)] = server.requests
    assert (method, path, body) == ("POST", "/hook?x=1", b'{"a": 1}')
    assert headers["host"] == f"target.example:{server.server_port}"
    assert headers["content-type"] == "application/json"
    assert headers["idempotency-key"] == headers["delayer-schedule-id"] == an_id(NOW + 250)
    assert headers["delayer-point-in-time"] == "2026-11-21T09:00:00.250Z"
    assert headers["delayer-attempt"] == "3"
    assert headers["user-agent"] == "Delayer"


def test_the_clients_own_headers(server: Server) -> None:
    """They come before our defaults, in whatever letters, and not before what is ours alone."""
    headers = {"content-TYPE": "text/plain", "Authorization": "Bearer x", "delayer-attempt": "99", "x-empty": ""}
    target(message(server, headers=headers))
    sent = server.requests[0][2]
    assert (sent["content-type"], sent["authorization"], sent["x-empty"]) == ("text/plain", "Bearer x", "")
    assert sent["delayer-attempt"] == "3"


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("payload", ["", '{"\u00e4": 1.0e2,  "b":"\U0001f600"}', "null"])
def test_the_payload_arrives_byte_for_byte(server: Server, method: str, payload: str) -> None:
    assert isinstance(target(message(server, method=method, payload=payload)), Done)
    assert (server.requests[0][0], server.requests[0][3]) == (method, payload.encode())


@pytest.mark.parametrize("code", [200, 201, 202, 204, 299])
def test_success(server: Server, code: int) -> None:
    server.reply = status(code)
    assert target(message(server)) == Done(f"HTTP {code}")


@pytest.mark.parametrize("code", [408, 425, 429, 500, 501, 502, 503, 504, 599])
def test_failures_that_may_pass(server: Server, code: int) -> None:
    server.reply = status(code)
    assert target(message(server)) == Retry(detail=f"HTTP {code}")


@pytest.mark.parametrize("code", [400, 401, 403, 404, 405, 409, 410, 413, 422, 451])
def test_failures_that_will_not(server: Server, code: int) -> None:
    server.reply = status(code)
    assert target(message(server)) == Refused(f"HTTP {code}")


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308, 304])
def test_redirects_are_not_followed(server: Server, code: int) -> None:
    server.reply = status(code, Location=f"http://127.0.0.1:{server.server_port}/elsewhere")
    result = target(message(server))
    assert isinstance(result, Refused)
    assert "not followed" in result.detail
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("value", "seconds"), [("120", 120), ("0", 0), ("99999999999", 999999), ("soon", None), ("-1", None), ("1.5", None)]
)
@pytest.mark.parametrize("code", [429, 503])
def test_retry_after_in_seconds(server: Server, code: int, value: str, seconds: int | None) -> None:
    server.reply = status(code, Retry_After=value)
    assert target(message(server)) == Retry(detail=f"HTTP {code}", after_seconds=seconds)


def test_retry_after_as_a_date(server: Server) -> None:
    server.reply = status(503, Retry_After=formatdate(time.time() + 100, usegmt=True))
    result = target(message(server))
    assert isinstance(result, Retry)
    assert result.after_seconds is not None
    assert 95 <= result.after_seconds <= 100
    server.reply = status(503, Retry_After=formatdate(time.time() - 100, usegmt=True))
    assert target(message(server)) == Retry(detail="HTTP 503", after_seconds=0)


def test_a_refused_connection_may_pass() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    result = target(message(url=f"http://target.example:{port}/"))
    assert isinstance(result, Retry)
    assert result.detail.startswith(f"no answer from target.example:{port}: ")
    assert "object at 0x" not in result.detail


def timed(server: Server, reply: Answer) -> tuple[Result, float]:
    """The result of an attempt that has a second, and how long it took."""
    server.reply = reply
    began = time.monotonic()
    result = target(message(server, timeoutSeconds=1))
    return result, time.monotonic() - began


def _wait(event: threading.Event) -> None:
    event.wait(10)


def test_a_target_that_does_not_answer_in_time_may_do_so_later(server: Server) -> None:
    stopped = threading.Event()
    result, took = timed(server, lambda handler: _wait(stopped))
    stopped.set()
    assert result == Retry(detail=f"no answer from target.example:{server.server_port} in time")
    assert 0.9 < took < 3


@pytest.mark.parametrize(("begins", "taken"), [(b"HTTP/1.1", False), (b"HTTP/1.1 200 OK\r\nX:", True)])
def test_a_target_that_drips_its_answer_has_no_longer(server: Server, begins: bytes, taken: bool) -> None:
    """One deadline for the attempt, not one for each byte: it would hold up its neighbours. A status that came
    whole counts, whatever was to follow it."""

    def drip(handler: Handler) -> None:
        with contextlib.suppress(OSError):
            handler.wfile.write(begins)
            for _ in range(100):
                handler.wfile.write(b" ")
                time.sleep(0.03)

    result, took = timed(server, drip)
    assert isinstance(result, Done if taken else Retry)
    assert 0.9 < took < 3


def test_a_broken_answer_may_be_a_whole_one_later(server: Server) -> None:
    def broken(handler: Handler) -> None:
        handler.wfile.write(b"nonsense\r\n\r\n")
        handler.close_connection = True

    server.reply = broken
    assert isinstance(target(message(server)), Retry)


def test_a_closed_connection_may_last_later(server: Server) -> None:
    def hang_up(handler: Handler) -> None:
        handler.close_connection = True

    server.reply = hang_up
    assert isinstance(target(message(server)), Retry)


def test_a_large_answer_is_not_read_to_its_end(server: Server) -> None:
    def large(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(10**12))
        handler.end_headers()
        handler.wfile.write(b"x" * 200_000)

    server.reply = large
    assert target(message(server)) == Done("HTTP 200")


def test_a_name_is_resolved_once_and_its_address_pinned(server: Server) -> None:
    """A name that changes between check and use reaches nothing that was refused."""
    asked: list[tuple[str, int]] = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append((host, port))
        return ["127.0.0.1"] if len(asked) == 1 else ["192.0.2.1"]

    url = f"http://no-such-name.invalid:{server.server_port}/"
    assert isinstance(HttpTarget(allow_private=True, resolve=resolve)(message(url=url)), Done)
    assert asked == [("no-such-name.invalid", server.server_port)]
    assert server.requests[0][2]["host"] == f"no-such-name.invalid:{server.server_port}"


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "127.255.255.254",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "169.254.170.2",
        "100.64.0.1",
        "0.0.0.0",
        "255.255.255.255",
        "198.18.0.1",
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
    ],
)
def test_private_addresses_are_refused(server: Server, address: str) -> None:
    """Also behind a public name, and also if only one of its addresses is private."""
    for addresses in ([address], ["93.184.215.14", address]):
        public = HttpTarget(allow_private=False, resolve=lambda host, port, found=addresses: found)  # type: ignore[misc] # bound here
        result = public(message(server))
        assert isinstance(result, Refused)
        assert address in result.detail
        assert "private" in result.detail
    assert server.requests == []


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "[::1]", "localhost", "LOCALHOST", "[::ffff:7f00:1]"]
)
def test_no_spelling_of_this_machines_address_gets_through(server: Server, host: str) -> None:
    """The system's resolver reads them all; what it makes of them is what is checked."""
    result = HttpTarget(allow_private=False)(message(url=f"http://{host}:{server.server_port}/"))
    assert isinstance(result, Refused)
    assert server.requests == []


def test_a_name_that_cannot_be_resolved_may_be_later() -> None:
    def fails(host: str, port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    result = HttpTarget(allow_private=True, resolve=fails)(message(url="http://no-such-name.invalid/"))
    assert isinstance(result, Retry)
    assert "no-such-name.invalid cannot be resolved" in result.detail


@pytest.mark.parametrize(
    "url",
    [
        "http://target.example:65536/",
        "http://target.example:99999/",
        "http://[:::]/",
        "http://[1.2.3.4]/",
        "http://a..b/",
        "http://" + "a" * 64 + ".example/",
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    """The API does not let it through; stored by an earlier version, it will still never be reached."""
    result = HttpTarget(allow_private=False)(message(url=url))
    assert isinstance(result, Refused)
    assert url in result.detail


def test_an_ipv6_literal(server: Server) -> None:
    """Without its brackets to the resolver, with them in the header Host."""
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    url = f"http://[2001:db8::1]:{server.server_port}"
    assert isinstance(HttpTarget(allow_private=True, resolve=resolve)(message(url=url)), Done)
    assert asked == ["2001:db8::1"]
    assert server.requests[0][2]["host"] == f"[2001:db8::1]:{server.server_port}"
    assert server.requests[0][1] == "/"


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("", "/"),
        ("?a=b", "/?a=b"),
        ("/a%2Fb?c=d%20e#fragment", "/a%2Fb?c=d%20e"),
        ("/a//b/;c=d", "/a//b/;c=d"),
        ("#x", "/"),
    ],
)
def test_the_path_arrives_as_it_was_given(server: Server, given: str, path: str) -> None:
    target(message(url=f"http://target.example:{server.server_port}{given}"))
    assert server.requests[0][1] == path


def certified(name: str, folder: Path) -> Path:
    """A certificate that nobody signed but itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), 1, now - timedelta(1), now + timedelta(1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = Encoding.PEM
    path = folder / "certificate.pem"
    secret = key.private_bytes(pem, PrivateFormat.PKCS8, NoEncryption())
    path.write_bytes(secret + certificate.public_bytes(pem))
    return path


@pytest.mark.parametrize(
    ("name", "trusted", "reached"),
    [("target.example", True, True), ("other.example", True, False), ("target.example", False, False)],
)
def test_a_certificate_must_be_trusted_and_that_of_the_name(
    name: str, trusted: bool, reached: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection goes to the checked address; the certificate is still that of the name."""
    tls_context.cache_clear()
    certificate = certified(name, tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with Server(("127.0.0.1", 0), Handler) as server:
        server.requests, server.reply = [], status(204)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        result = target(message(url=f"https://target.example:{server.server_port}/"))
        server.shutdown()
    tls_context.cache_clear()
    assert isinstance(result, Done if reached else Retry)
    assert bool(server.requests) == reached
    assert reached or "certificate" in result.detail.lower()


def test_a_server_without_tls_is_no_target_of_https(server: Server) -> None:
    result = target(message(url=f"https://target.example:{server.server_port}/"))
    assert isinstance(result, Retry)
    assert server.requests == []


def test_default_ports() -> None:
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(port)
        raise OSError("far enough")

    for scheme in ("http", "https"):
        HttpTarget(allow_private=True, resolve=resolve)(message(url=f"{scheme}://target.example/"))
    assert asked == [80, 443]
