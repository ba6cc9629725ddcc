"""A connection is used again only where nothing can be mistaken, and a request is never sent twice over one attempt."""

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from attrs import define, evolve

from delayer.actions.rules.model import Done, Message, Refused, Result, Retry
from delayer.targets import http_connections
from delayer.targets.deadlines import deadlines
from delayer.targets.http_answer import MAX_HEAD, HttpAnswer, read_answer
from delayer.targets.http_connections import (
    KEPT_SECONDS,
    MOST_KEPT,
    HttpConnection,
    HttpConnections,
    Peer,
    tls_context,
)
from delayer.targets.http_request import HttpTarget, Request, in_one_piece
from tests.unit.targets.scripted import NO_CONTENT, ScriptedServer, answer, certified, scripted

HOST = "target.example"
OK = answer(200, b'{"ok": true}')


def large_head(size: int) -> bytes:
    """One of so many bytes, without a body."""
    begins = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: "
    return begins + b"y" * (size - len(begins) - 4) + b"\r\n\r\n"


@define
class Time:
    """By hand."""

    at: float = 1000.0

    def __call__(self) -> float:
        return self.at


@define
class Stand:
    """A server, and one execution environment whose clocks are moved by hand."""

    server: ScriptedServer
    now: Time
    world_now: Time
    connections: HttpConnections
    scheme: str = "http"

    def send(self, host: str = HOST, keep: Any = None, to: str = "127.0.0.1", body: str = "{}", **of: Any) -> Result:
        """One attempt: the first of a schedule that may have others."""
        url = f"{self.scheme}://{host}:{self.server.port}/hook"
        message = Message[None](
            action=None,
            payload=body,
            schedule_id="id",
            **{"owner": "o", "point_in_time": 0, "attempt": 1, "has_next": True, **of},
        )
        target = HttpTarget(allow_private=True, resolve=lambda *_: [to], connections=self.connections)
        result = target.send(Request(url=url, method="POST", headers={}, timeout=30, keep=keep), message)
        if "no answer" not in result.detail:
            self.server.sent.acquire(timeout=20)  # all of it has come: what is sent on one machine has arrived
        return result

    def both(self, **second: Any) -> list[int]:
        """How many requests came over each connection, of one attempt and of another one."""
        self.send()
        self.send(**second)
        return self.server.requests


@pytest.fixture
def stand() -> Iterator[Stand]:
    with scripted() as server:
        yield from stands(server)


def stands(server: ScriptedServer, scheme: str = "http") -> Iterator[Stand]:
    now, world_now = Time(), Time(1.8e9)
    made = Stand(server, now, world_now, HttpConnections(now=now, world_now=world_now), scheme)
    yield made
    now.at = float("inf")
    assert made.connections.take(a_peer(), monotonic() + 1) is None, "and none is left open"


@pytest.fixture
def over_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stand]:
    certificate = certified(HOST, tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tls_context.cache_clear()
    with scripted(context) as server:
        yield from stands(server, "https")
    tls_context.cache_clear()


def a_peer(**changes: Any) -> Peer:
    return evolve(Peer(owner="o", scheme="http", host=HOST, port=80, address="192.0.2.1"), **changes)


def test_a_request_goes_out_in_one_piece(stand: Stand) -> None:
    """Head and body together: the other side finds both in what it reads first."""
    assert stand.send(body='{"a": 1}') == Done("HTTP 204")
    [[piece]] = stand.server.connections
    head, body = piece.split(b"\r\n\r\n")
    assert head.startswith(b"POST /hook HTTP/1.1\r\nAccept-Encoding: identity\r\nContent-Length: 8\r\n")
    assert body == b'{"a": 1}'


def test_so_it_does_over_tls(over_tls: Stand) -> None:
    assert over_tls.both() == [2]
    [[first, second]] = over_tls.server.connections
    assert first == second
    assert first.endswith(b"\r\n\r\n{}")


def quickest(attempt: Callable[[], Result]) -> float:
    """Seconds, of the last ten: a machine that is busy makes some slow, and a new connection is quick at first."""
    taken = []
    for _ in range(20):
        began = monotonic()
        assert isinstance(attempt(), Done)
        taken.append(monotonic() - began)
    return min(taken[10:])


def test_a_server_that_waits_for_acknowledgements_is_not_kept_waiting(stand: Stand) -> None:
    """It writes head and body apart, and does not switch off Nagle's algorithm: 40 ms, if nobody sees to it."""

    def body(_: bytes) -> bytes:
        stand.server.open[-1].sendall(OK[:-1])
        return OK[-1:]

    stand.server.reply = body
    assert quickest(lambda: stand.send(keep=frozenset())) < 0.03
    assert stand.server.requests == [20]


def test_nor_is_one_that_sends_tickets_of_tls_before_its_answer(over_tls: Stand) -> None:
    assert quickest(lambda: over_tls.send(has_next=False)) < 0.03
    assert over_tls.server.requests == [1] * 20


def test_what_would_be_two_lines_is_not_sent() -> None:
    for line in ("a\r\nX-Other: b", "a\nb", "a\rb"):
        with pytest.raises(ValueError, match="two"):
            in_one_piece("POST", "/", {"X-Own": line}, b"")


@pytest.mark.parametrize(
    ("method", "body", "length"), [("POST", b"", b"0"), ("GET", b"", None), ("DELETE", b"x", b"1"), ("put", b"", b"0")]
)
def test_the_length_is_said_where_a_body_may_be(method: str, body: bytes, length: bytes | None) -> None:
    head = in_one_piece(method, "/", {"accept-encoding": "gzip"}, body)
    assert (b"Content-Length: %b\r\n" % (length or b"")) in head or length is None
    assert (b"Content-Length" in head) == (length is not None)
    assert b"identity" not in head


@pytest.mark.parametrize(
    "said",
    [
        OK,
        NO_CONTENT,
        answer(204, headers={"Content-Length": "0"}),
        answer(503, b"busy"),
        answer(404),
        answer(200, b"3\r\nabc\r\n0\r\n\r\n", {"Transfer-Encoding": "Chunked"}),
        answer(200, headers={"Content-Length": "0", "Connection": "Keep-Alive", "Keep-Alive": "timeout=5, max=99"}),
        b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + OK,
        answer(200, b"x" * 65_536),
    ],
)
def test_the_next_request_goes_over_the_same_connection(stand: Stand, said: bytes) -> None:
    stand.server.reply = lambda _: said
    stand.send()
    stand.server.reply = lambda _: OK
    assert stand.send() == Done("HTTP 200")
    assert stand.server.requests == [2]


@pytest.mark.parametrize(
    "said",
    [
        OK.replace(b"HTTP/1.1", b"HTTP/1.0"),
        OK.replace(b"Content", b"Connection: close\r\nContent"),
        OK.replace(b"Content", b"Connection: x, CLOSE\r\nContent"),
        OK.replace(b"Content", b"Connection: x\r\nConnection: close\r\nContent"),
        answer(200, headers={"Content-Length": "0", "Keep-Alive": "timeout=1"}),
        answer(200, b"", {}),  # up to the end of the connection
        answer(200, b"x", {"Content-Length": "2"}),  # half of it
        answer(200, b"xy", {"Content-Length": "1"}),  # something behind it
        answer(204, b"x"),
        answer(204, b"x", {}),
        answer(304, b"", {"Content-Length": "5"}),
        answer(101),
        answer(200, b"", {"Content-Length": "-1"}),
        answer(200, b"", {"Content-Length": "0, 0"}),
        answer(200, b"", {"Content-Length": "0x0"}),
        answer(200, b"", {"Content-Length": "65537"}),
        answer(200, b"", {"Content-Length": "0\r\nContent-Length: 7"}),
        answer(200, b"0\r\n\r\n", {"Content-Length": "5", "Transfer-Encoding": "chunked"}),
        answer(200, b"0\r\n\r\n", {"Transfer-Encoding": "gzip, chunked"}),
        answer(200, b"0\r\n\r\n", {"Transfer-Encoding": "chunked\r\nTransfer-Encoding: chunked"}),
        answer(200, b"0\r\nX-Trailer: x\r\n\r\n", {"Transfer-Encoding": "chunked"}),
        answer(200, b"3\r\nabc\r\n0\r\n", {"Transfer-Encoding": "chunked"}),
        answer(200, b"zz\r\n", {"Transfer-Encoding": "chunked"}),
        OK + OK,
        large_head(MAX_HEAD + 1),
        large_head(MAX_HEAD + 5000),
    ],
)
def test_after_an_answer_that_leaves_a_doubt_there_is_a_new_connection(stand: Stand, said: bytes) -> None:
    """What is left of it would be taken for the answer to the next request."""
    stand.server.reply = lambda _: said
    stand.send()
    stand.server.reply = lambda _: answer(404)
    assert stand.send() == Refused("HTTP 404")
    assert stand.server.requests == [1, 1]


@pytest.mark.parametrize(("length", "keeps_for"), [(0, float("inf")), (65_536, float("inf")), (65_537, 0), (10**18, 0)])
def test_behind_a_large_body_nothing_is_waited_for(length: int, keeps_for: float) -> None:
    """Its target would go on with writing it."""
    said = BytesIO(answer(200, b"", {"Content-Length": str(length)}))
    assert read_answer(said.readline).keeps_for == keeps_for


def test_after_what_is_no_answer_there_is_a_new_connection(stand: Stand) -> None:
    """Also if there was an answer over the same connection before."""
    says = iter([NO_CONTENT, b"220 smtp.example\r\n"])
    stand.server.reply = lambda _: next(says, NO_CONTENT)
    assert stand.both() == [2]
    assert stand.send() == Done("HTTP 204")
    assert stand.server.requests == [2, 1]


def test_a_body_is_never_taken_for_the_answer_to_the_next_request(stand: Stand) -> None:
    bodies = iter([answer(503, answer(200)), answer(404)])
    stand.server.reply = lambda _: next(bodies)
    assert stand.send() == Retry(detail="HTTP 503", is_outage=True)
    assert stand.send() == Refused("HTTP 404")
    assert stand.server.requests == [2]


def test_a_body_is_not_waited_for(stand: Stand) -> None:
    """It may come while the connection waits; if it has not come by then, another connection is made."""
    stand.server.reply = lambda _: answer(200, b"", {"Content-Length": "3"})
    assert stand.send() == Done("HTTP 200")
    stand.server.open[0].sendall(b"abc")
    assert stand.send() == Done("HTTP 200")
    assert stand.send() == Done("HTTP 200")
    assert stand.server.requests == [2, 1]


@pytest.mark.parametrize(
    ("said", "requests"),
    [
        (OK, [2]),
        (answer(200, b"x" * 1024), [2]),
        (answer(200, b"3\r\nabc\r\n0\r\n\r\n", {"Transfer-Encoding": "chunked"}), [2]),
        (answer(200, b"x" * 1025), [1, 1]),
        (answer(200, b"x" * 1025) + b"y" * 1025, [1, 1]),
    ],
)
def test_so_it_is_where_the_answer_is_kept(stand: Stand, said: bytes, requests: list[int]) -> None:
    """A body of which the first KB is kept has not been read to its end."""
    stand.server.reply = lambda _: said
    for _ in range(2):
        result = stand.send(keep=frozenset())
        assert json.loads(result.answer)["status"] == 200
    assert stand.server.requests == requests


def test_a_connection_is_one_owners_for_one_name_at_one_address(stand: Stand) -> None:
    """Neither what a target knows of a connection nor its keys are shared by two owners."""
    assert stand.both(owner="p") == [1, 1]
    assert stand.send(host="other.example") == Done("HTTP 204")
    assert stand.server.requests == [1, 1, 1]
    assert stand.both(owner="q")[:3] == [2, 1, 1]


@pytest.mark.parametrize(
    "other", [{"owner": "p"}, {"scheme": "https"}, {"host": "x"}, {"port": 443}, {"address": "192.0.2.2"}], ids=str
)
def test_each_part_of_the_key_counts(other: dict[str, Any]) -> None:
    now = Time()
    pool, (ours, theirs) = HttpConnections(now=now), socket.socketpair()
    with theirs:
        kept = waiting(ours)
        pool.release(kept)
        assert pool.take(a_peer(**other), monotonic() + 5) is None
        assert pool.take(a_peer(), monotonic() + 5) is kept
        kept.close()


def waiting(sock: socket.socket) -> HttpConnection:
    """A connection whose answer was read."""
    made = HttpConnection(peer=a_peer(), sock=sock, number=deadlines().watch(sock, monotonic() + 60))
    made.answered(HttpAnswer(status=204, keeps_for=float("inf")), is_body_read=True)
    return made


def test_the_address_is_checked_for_each_attempt(stand: Stand) -> None:
    """A name that leads elsewhere by now, or inside, is not served by a connection from before."""
    stand.send()
    with socket.create_server(("127.0.0.2", stand.server.port)) as elsewhere:
        threading.Thread(target=lambda: elsewhere.accept()[0].close(), daemon=True).start()
        assert isinstance(stand.send(to="127.0.0.2"), Retry)
    careful = HttpTarget(allow_private=False, resolve=lambda *_: ["127.0.0.1"], connections=stand.connections)
    url = f"http://{HOST}:{stand.server.port}/"
    message = Message[None](
        action=None, payload="", schedule_id="id", owner="o", point_in_time=0, attempt=1, has_next=True
    )
    result = careful.send(Request(url=url, method="POST", headers={}, timeout=5), message)
    assert isinstance(result, Refused)
    assert not result.reached
    assert stand.server.requests == [1]


@pytest.mark.parametrize("clock", ["now", "world_now"])
@pytest.mark.parametrize(("seconds", "requests"), [(KEPT_SECONDS - 0.01, [2]), (KEPT_SECONDS, [1, 1])])
def test_it_is_kept_for_a_moment_by_either_clock(stand: Stand, clock: str, seconds: float, requests: list[int]) -> None:
    """One of them may stand still while a function is frozen, and the other one may be set back."""
    stand.send()
    getattr(stand, clock).at += seconds
    other = stand.world_now if clock == "now" else stand.now
    other.at -= 3600
    stand.send()
    assert stand.server.requests == requests


def test_a_target_that_waits_for_less_is_asked_for_less(stand: Stand) -> None:
    """It says two seconds, and its clock began before ours."""
    stand.server.reply = lambda _: answer(200, headers={"Content-Length": "0", "Keep-Alive": "timeout=2"})
    assert stand.both() == [2]
    stand.now.at += 1
    stand.send()
    assert stand.server.requests == [2, 1]


def test_the_other_side_sees_its_end_though_nobody_comes(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else it would hold a thread for it until the next attempt, which may come in an hour."""
    monkeypatch.setattr(http_connections, "KEPT_SECONDS", 0.05)
    stand.send()
    assert stand.server.ended.acquire(timeout=20)
    assert stand.send() == Done("HTTP 204")
    assert stand.server.requests == [1, 1]


def test_an_attempt_has_its_own_deadline_over_a_kept_connection(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not that of the connection while it waited, which passes here before the answer comes."""
    monkeypatch.setattr(http_connections, "KEPT_SECONDS", 0.05)
    stand.send()

    def late(_: bytes) -> bytes:
        sleep(0.15)
        return OK

    stand.server.reply = late
    assert stand.send() == Done("HTTP 200")


@pytest.mark.parametrize("kind", ["stand", "over_tls"])
def test_what_the_other_side_has_closed_is_not_used(kind: str, request: pytest.FixtureRequest) -> None:
    """It is looked at before the request is sent: there is no failure."""
    one: Stand = request.getfixturevalue(kind)
    one.send()
    one.server.end()
    assert one.send() == Done("HTTP 204")
    assert one.server.requests == [1, 1]


def test_whoever_speaks_before_it_is_asked_is_not_asked(stand: Stand) -> None:
    """An answer that waits there would be taken for that to the next request."""
    stand.send()
    stand.server.open[0].sendall(answer(404))
    assert stand.send() == Done("HTTP 204")
    assert stand.server.requests == [1, 1]


def test_a_request_that_is_lost_with_its_connection_is_not_sent_again(stand: Stand) -> None:
    """Nobody knows whether it has come. It is an attempt that has failed, and the next one has a new connection."""
    closes = iter([NO_CONTENT, None])
    stand.server.reply = lambda _: next(closes, NO_CONTENT)
    stand.send()
    detail = f"no answer from {HOST}:{stand.server.port}: the connection was closed"
    assert stand.send() == Retry(detail=detail, is_outage=True)
    assert stand.server.requests == [2]
    assert stand.send(attempt=2) == Done("HTTP 204")
    assert stand.server.requests == [2, 1]


@pytest.mark.parametrize("of", [{"attempt": 2}, {"has_next": False}], ids=str)
def test_no_schedule_ends_for_a_connection_that_was_kept(stand: Stand, of: dict[str, Any]) -> None:
    """A retry, and an attempt that is the only one, have a connection of their own, which cannot be closed already."""
    assert stand.both(**of) == [1, 1]


def test_who_uses_no_kept_connection_leaves_none_open(stand: Stand) -> None:
    """A test of a connection, or a webhook of an operator."""
    stand.send(has_next=False)
    stand.send()
    assert stand.server.requests == [1, 1]


def test_those_that_wait_are_bounded() -> None:
    """The oldest makes room."""
    pool, pairs = HttpConnections(now=(now := Time())), [socket.socketpair() for _ in range(MOST_KEPT + 1)]
    for ours, _ in pairs:
        pool.release(waiting(ours))
    assert pairs[0][0].fileno() == -1
    assert [ours.fileno() == -1 for ours, _ in pairs[1:]] == [False] * MOST_KEPT
    now.at += KEPT_SECONDS
    assert pool.take(a_peer(), monotonic() + 5) is None
    assert {ours.fileno() for ours, _ in pairs} == {-1}
    for _, theirs in pairs:
        theirs.close()


def test_no_time_is_left_for_a_kept_one_either(stand: Stand) -> None:
    stand.send()
    peer = a_peer(port=stand.server.port, address="127.0.0.1")
    assert stand.connections.take(peer, monotonic() - 1) is None
    assert stand.both() == [1, 2]


@pytest.mark.parametrize("kind", ["stand", "over_tls"])
def test_attempts_side_by_side_get_their_own_answers(kind: str, request: pytest.FixtureRequest) -> None:
    one: Stand = request.getfixturevalue(kind)
    one.server.reply = lambda asked: answer(int(asked[-3:]), b"x" * 10)
    wrong = list[str]()

    def attempts(first: int) -> None:
        for number in range(10):
            status = 400 + (first * 10 + number) % 8
            if (result := one.send(body=str(status))) != Refused(f"HTTP {status}"):
                wrong.append(result.detail)

    threads = [threading.Thread(target=attempts, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [detail for detail in wrong if detail != "HTTP 408"] == []
    assert sum(one.server.requests) == 40
