"""The action http-request, against a real server on this machine."""

import contextlib
import socket
import ssl
import threading
import time
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from delayer.actions.rules.model import Done, Message, Refused, Result, Retry
from delayer.ledger.model import MAX_DETAIL
from delayer.signing.sign import Sign
from delayer.targets.http_answer import seconds_of
from delayer.targets.http_connections import tls_context
from delayer.targets.http_request import HttpTarget, Request
from delayer.targets.public_addresses import MOST_UNDER_WAY
from delayer.wiring.build import build
from tests.deadlines.endpoints import nobody
from tests.samples import NOW, an_id
from tests.unit.targets.apps import app_of
from tests.unit.targets.scripted import certified
from tests.unit.targets.server import Answer, Handler, Server, http_target, message, raw, status, to_this_machine
from tests.world import World

target = http_target(allow_private=True, resolve=to_this_machine)


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
    assert isinstance(target(message(server, headers=headers)), Done), "no header twice"
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
    assert target(message(server)) == Retry(detail=f"HTTP {code}", is_outage=code >= 500)


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


@pytest.mark.parametrize("code", [409, 304, 503])
def test_an_action_may_say_which_other_answers_are_success(server: Server, code: int) -> None:
    """Such as 409, with which a target answers a second attempt. All others mean what they always do."""
    server.reply = status(code)
    http = HttpTarget(allow_private=True, resolve=to_this_machine)
    url = f"http://target.example:{server.server_port}/"
    attempt: Message[None] = Message(
        action=None, payload="", schedule_id=an_id(NOW), owner="o", point_in_time=NOW, attempt=2
    )
    request = Request(url=url, method="POST", headers={}, timeout=5, done=[code])
    assert http.send(request, attempt) == Done(f"HTTP {code}")
    assert not isinstance(http.send(evolve(request, done={410}), attempt), Done)
    server.reply = status(410)
    assert http.send(request, attempt) == Refused("HTTP 410")


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        ("0", 0),
        ("1209600", 1_209_600),
        ("99999999999", 10**9),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
    ],
)
@pytest.mark.parametrize("code", [429, 503])
def test_retry_after_in_seconds(server: Server, code: int, value: str, seconds: int | None) -> None:
    server.reply = status(code, Retry_After=value)
    assert target(message(server)) == Retry(detail=f"HTTP {code}", after_seconds=seconds, is_outage=code == 503)


def test_retry_after_as_a_date(server: Server) -> None:
    server.reply = status(503, Retry_After=formatdate(time.time() + 100, usegmt=True))
    result = target(message(server))
    assert isinstance(result, Retry)
    assert result.after_seconds is not None
    assert 95 <= result.after_seconds <= 100
    server.reply = status(503, Retry_After=formatdate(time.time() - 100, usegmt=True))
    assert target(message(server)) == Retry(detail="HTTP 503", after_seconds=0, is_outage=True)


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo", "UTC"])
@pytest.mark.parametrize("form", ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"])
def test_each_form_of_a_date_is_gmt_wherever_the_machine_is(
    zone: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The three forms of RFC 9110; that of asctime names no zone."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        after = seconds_of(time.strftime(form, time.gmtime(time.time() + 120)))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert after is not None
    assert 110 <= after <= 120


def test_a_refused_connection_may_pass() -> None:
    with nobody() as port:
        result = target(message(url=f"http://target.example:{port}/"))
    assert isinstance(result, Retry)
    assert result.detail == f"no answer from target.example:{port}: the connection was refused"


def timed(server: Server, reply: Answer) -> tuple[Result, float]:
    """The result of an attempt that has a second, and how long it took."""
    server.reply = reply
    began = time.monotonic()
    result = target(message(server, timeoutSeconds=1))
    return result, time.monotonic() - began


def _wait(event: threading.Event) -> None:
    event.wait(10)


def test_a_target_that_does_not_answer_in_time_may_do_so_later(server: Server) -> None:
    """It takes the second that an attempt has at least."""
    stopped = threading.Event()
    result, took = timed(server, lambda handler: _wait(stopped))
    stopped.set()
    assert result == Retry(detail=f"no answer from target.example:{server.server_port} in time", is_outage=True)
    assert 0.9 < took < 3


@pytest.mark.parametrize(("begins", "taken"), [(b"HTTP/1.1", False), (b"HTTP/1.1 200 OK\r\nX:", True)])
def test_a_target_that_drips_its_answer_has_no_longer(server: Server, begins: bytes, taken: bool) -> None:
    """One deadline for the attempt, not one for each byte: it would hold up its neighbours. A status that came
    whole counts, whatever was to follow it. It takes the second that an attempt has at least."""

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
    server.reply = raw(b"nonsense\r\n\r\n")
    expected = f"no answer from target.example:{server.server_port}: what it sent is not HTTP"
    assert target(message(server)) == Retry(detail=expected, is_outage=True)


def test_a_closed_connection_may_last_later(server: Server) -> None:
    server.reply = raw(b"")
    expected = f"no answer from target.example:{server.server_port}: the connection was closed"
    assert target(message(server)) == Retry(detail=expected, is_outage=True)


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
    assert isinstance(http_target(allow_private=True, resolve=resolve)(message(url=url)), Done)
    assert asked == [("no-such-name.invalid", server.server_port)]
    assert server.requests[0][2]["host"] == f"no-such-name.invalid:{server.server_port}"


def test_a_name_that_cannot_be_resolved_may_be_later() -> None:
    def fails(host: str, port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    result = http_target(allow_private=True, resolve=fails)(message(url="http://no-such-name.invalid/"))
    assert result == Retry(detail="no answer from no-such-name.invalid: its name cannot be resolved", is_outage=True)


def test_a_name_without_addresses_may_have_some_later() -> None:
    result = http_target(allow_private=True, resolve=lambda host, port: [])(message(url="http://target.example/"))
    assert isinstance(result, Retry)


def test_a_slow_resolver_counts_against_the_time_of_the_attempt() -> None:
    """And is not waited for: its thread is left behind. It takes the second that an attempt has at least."""
    answered = threading.Event()

    def slow(host: str, port: int) -> list[str]:
        _wait(answered)
        return ["127.0.0.1"]

    began = time.monotonic()
    result = http_target(allow_private=True, resolve=slow)(message(url="http://target.example/", timeoutSeconds=1))
    took = time.monotonic() - began
    answered.set()
    assert result == Retry(detail="no answer from target.example in time", is_outage=True)
    assert 0.9 < took < 2


def test_lookups_left_behind_are_limited_and_free_their_places_when_they_end() -> None:
    """An owner whose name server is slow does not fill the function with threads."""
    answered, asked = threading.Event(), []

    def slow(host: str, port: int) -> list[str]:
        asked.append(host)
        _wait(answered)
        return []

    limited = http_target(allow_private=True, resolve=slow)
    for number in range(MOST_UNDER_WAY + 20):
        attempt = message(url=f"http://target-{number}.example/", timeoutSeconds=0)
        assert limited(attempt) == Retry(detail=f"no answer from target-{number}.example in time", is_outage=True)
    assert len(asked) == MOST_UNDER_WAY
    answered.set()
    result = limited(message(url="http://target.example/"))
    assert result == Retry(detail="no answer from target.example: its name cannot be resolved", is_outage=True), (
        "there is room again"
    )


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
    result = http_target(allow_private=False)(message(url=url))
    assert isinstance(result, Refused)
    assert result.detail.startswith("not ")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"url": "ftp://target.example/"}, "http or https"),
        ({"url": "file:///etc/passwd"}, "http or https"),
        ({"url": "//target.example/"}, "http or https"),
        ({"url": "/path"}, "http or https"),
        ({"url": "http:///path"}, "http or https"),
        ({"url": "http://target.example:0/"}, "http or https"),
        ({"url": "http://user:secret@target.example/"}, "user name"),
        ({"method": "GET /other HTTP/1.1\r\nX: y\r\n\r\n"}, "method"),
        ({"method": "GET /other"}, "method"),
        ({"method": ""}, "method"),
        ({"headers": {"x": "a\r\nHost: other"}}, "header"),
        ({"headers": {"x": "a\n b"}}, "header"),
        ({"headers": {"x": "a\n"}}, "header"),
        ({"headers": {"x": "a\0"}}, "header"),
        ({"headers": {"x": "\u010d"}}, "header"),
        ({"headers": {"x: y\r\nz": "a"}}, "header"),
        ({"headers": {"x ": "a"}}, "header"),
        ({"headers": {"": "a"}}, "header"),
    ],
)
def test_what_would_be_read_as_something_else_is_refused(server: Server, fields: dict[str, str], says: str) -> None:
    """The API does not let these through either. None of them is shown: a URL or a header may hold a secret."""
    result = target(message(server, **{"url": "", **fields}))
    assert isinstance(result, Refused)
    assert says in result.detail
    assert "secret" not in result.detail
    assert server.requests == []


def test_headers_that_are_ours_cannot_be_given(server: Server) -> None:
    """In whatever letters: two lengths, or two hosts, would be read in two ways."""
    theirs = ["host", "CONTENT-LENGTH", "transfer-encoding", "Connection", "idempotency-KEY", "delayer-schedule-id"]
    assert isinstance(target(message(server, headers=dict.fromkeys(theirs, "1"))), Done)
    sent = server.requests[0][2]
    assert sent["host"] == f"target.example:{server.server_port}"
    assert sent["content-length"] == str(len('{"a": 1}'))
    assert sent["idempotency-key"] == sent["delayer-schedule-id"] == an_id(NOW + 250)
    assert not {"transfer-encoding", "connection"} & set(sent)


LOUD = b"<script>\x1b[2J" + b"secret" * 10_000


@pytest.mark.parametrize(
    "answer",
    [
        LOUD + b"\r\n\r\n",
        b"HTTP/1.1 " + LOUD + b"\r\n\r\n",
        b"HTTP/1.1 200" + LOUD + b"\r\n\r\n",
        b"HTTP/9.9 204 secret\r\n\r\n",
        b"HTTP/1.1 500 " + LOUD[:5000] + b"\r\n\r\n",
        b"HTTP/1.1 404 secret\r\nX-Secret: secret\r\n\r\n",
        b"HTTP/1.1 301 secret\r\nLocation: http://secret/\r\n\r\n",
        b"HTTP/1.1 503 Slow\r\nRetry-After: secret" + LOUD + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"secret: secret\r\n" * 5000 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nsecret\0: \xff\r\n\r\n",
        b"HTTP/1.1 103 secret\r\n" + b"Link: secret\r\n" * 10_000,
        b"SSH-2.0-secret\r\n",
        b"220 secret ESMTP\r\n",
        b"\x15\x03\x01\x00\x02\x02\x46",
        b"\r\n" * 1000,
    ],
)
def test_a_target_cannot_talk_into_the_ledger(server: Server, answer: bytes) -> None:
    """The detail is the status, or a text of ours; it goes into the ledger, into events and to the terminal."""
    server.reply = raw(answer)
    detail = target(message(server)).detail
    assert "secret" not in detail.lower()
    assert len(detail) <= MAX_DETAIL
    assert detail.isascii()
    assert detail.isprintable()


EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (EARLY + b"HTTP/1.1 200 OK\r\n\r\n", Done("HTTP 200")),
        (
            EARLY * 3 + b"HTTP/1.1 503 x\r\nRetry-After: 7\r\n\r\n",
            Retry(detail="HTTP 503", after_seconds=7, is_outage=True),
        ),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + EARLY + b"HTTP/1.1 404 x\r\n\r\n", Refused("HTTP 404")),
        (b"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 204 x\r\n\r\n", Done("HTTP 204")),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n\0\0", Refused("HTTP 101")),
        (b"HTTP/1.0 200\n\n", Done("HTTP 200")),
    ],
)
def test_interim_answers_are_no_failure(server: Server, answer: bytes, expected: Result) -> None:
    """What follows them counts."""
    server.reply = raw(answer)
    assert target(message(server)) == expected


@pytest.mark.parametrize("answer", [EARLY, EARLY + b"HTTP/1.1 20", EARLY * 10_000])
def test_interim_answers_alone_are_no_answer(server: Server, answer: bytes) -> None:
    """However many there are."""
    server.reply = raw(answer)
    result = target(message(server))
    assert isinstance(result, Retry)
    assert result.detail.startswith("no answer")


def test_an_ipv6_literal(server: Server) -> None:
    """Without its brackets to the resolver, with them in the header Host."""
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    url = f"http://[2001:db8::1]:{server.server_port}"
    assert isinstance(http_target(allow_private=True, resolve=resolve)(message(url=url)), Done)
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
    why = "is not trusted" if trusted is False else "is for another name"
    assert reached or result.detail.endswith(f": its certificate {why}")


def test_a_server_without_tls_is_no_target_of_https(server: Server) -> None:
    result = target(message(url=f"https://target.example:{server.server_port}/"))
    assert result == Retry(detail=f"no answer from target.example:{server.server_port}: TLS failed", is_outage=True)
    assert server.requests == []


def test_default_ports() -> None:
    asked = []

    def resolve(host: str, port: int) -> list[str]:
        asked.append(port)
        raise OSError("far enough")

    for scheme in ("http", "https"):
        http_target(allow_private=True, resolve=resolve)(message(url=f"{scheme}://target.example/"))
    assert asked == [80, 443]


def of_the_function(monkeypatch: pytest.MonkeyPatch, allow_private: str) -> Any:
    """Port Target, as the function is deployed."""
    app = app_of("http-request")
    monkeypatch.setenv("ALLOW_PRIVATE_TARGETS", allow_private)
    app.handler.sign = build(Sign, World().ports("executor-http-request"))
    return app.handler.target


def test_the_function_sends_what_its_class_says(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what it leaves out: POST, no headers, ten seconds."""
    target = of_the_function(monkeypatch, "true")
    url = f"http://127.0.0.1:{server.server_port}/hook"
    headers = {"X-Team": "a"}
    assert target(message(url=url, payload="[1.0]")) == Done("HTTP 204")
    assert target(message(url=url, method="PUT", headers=headers, timeoutSeconds=5)) == Done("HTTP 204")
    (first, _, _, body), (second, _, sent, _) = server.requests
    assert (first, second, body, sent["x-team"]) == ("POST", "PUT", b"[1.0]", "a")


def test_the_function_reaches_private_addresses_only_if_the_stack_allows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    result = of_the_function(monkeypatch, "false")(message(url="http://127.0.0.1:9/"))
    assert result == Refused("not a public address, and the operator has allowed no other: 127.0.0.1", reached=False)


def test_the_time_that_a_client_asks_for_is_that_of_the_attempt(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes a second: that is the time."""
    stopped = threading.Event()
    server.reply = lambda handler: _wait(stopped)
    began = time.monotonic()
    url = f"http://127.0.0.1:{server.server_port}/"
    result = of_the_function(monkeypatch, "true")(message(url=url, timeoutSeconds=1))
    stopped.set()
    assert isinstance(result, Retry)
    assert 0.9 < time.monotonic() - began < 3
