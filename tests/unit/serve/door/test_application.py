"""Requests become calls, and calls are answered, on real connections."""

import asyncio
import time
from collections.abc import Iterator

import pytest

from delayer.engines.ports import Unavailable
from delayer.http.answers import response
from delayer.serve.door.application import Door, WaitingCall, deliver
from delayer.serve.door.incoming import Message, Receive, Scope, Send
from delayer.serve.door.limits import DoorLimits
from tests.unit.serve.door.world import Engine, Served, echo, get, post, served


@pytest.fixture(scope="module")
def door() -> Iterator[Served]:
    with served() as found:
        yield found


def test_a_request_becomes_a_call_of_its_function(door: Served) -> None:
    reply = door.call(post("/schedules/by-name/a%2Fb?x=1&x=2&y=", b'{"a": 1}', "Delayer-Owner: ann"))
    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    assert "server" not in reply.headers
    found = reply.json()
    assert found["function"] == "api-default", "a name has no POST"
    found = door.call(get("/schedules/by-name/a%2Fb?x=1&x=2&y=", "Delayer-Owner: ann")).json()
    assert (found["function"], found["route"]) == ("api-schedule-get", "GET /schedules/by-name/{name}")
    assert (found["parameters"], found["query"]) == ({"name": "a/b"}, {"x": "1,2", "y": ""})
    assert (found["owner"], found["address"], found["claims"]) == ("ann", "127.0.0.1", {})


def test_a_body_in_pieces_is_one_body(door: Served) -> None:
    with door.connect() as client:
        client.send(get("/schedules", "Transfer-Encoding: chunked", method="POST"))
        for piece in (b'4\r\n{"a"\r\n', b"5\r\n: 12}\r\n", b"0\r\n\r\n"):
            client.send(piece)
        assert client.reply().json()["body"] == '{"a": 12}'
        client.send(post("/schedules", b"x" * 300_000))
        assert len(client.reply().json()["body"]) == 300_000


def test_calls_in_a_row_on_one_connection_are_answered_in_order(door: Served) -> None:
    with door.connect() as client:
        client.send(b"".join(post("/schedules", str(one).encode()) for one in range(20)))
        assert [client.reply().json()["body"] for _ in range(20)] == [str(one) for one in range(20)]


def test_a_repeated_header_is_one_with_both_values(door: Served) -> None:
    assert door.call(get("/schedules", "Delayer-Owner: a", "delayer-owner: b")).json()["owner"] == "a,b"
    assert door.call(get("/schedules", "Delayer-Owner: \xc3\xa9")).json()["owner"] == "é", "UTF-8"
    assert door.call(get("/schedules", "Delayer-Owner: \xe9")).json()["owner"] == "é", "Latin-1"


@pytest.mark.parametrize("call", ["OPTIONS /jobs/a", "DELETE /jobs/a", "PUT /schedules", "TRACE /", "GET /no/such"])
def test_what_has_no_route_is_answered_as_on_aws(door: Served, call: str) -> None:
    method, _, path = call.partition(" ")
    assert door.call(get(path, method=method)).json()["function"] == "api-default"


def test_the_answer_to_head_has_no_body(door: Served) -> None:
    with door.connect() as client:
        client.send(get("/jobs/a", "Connection: close", method="HEAD"))
        text = client.file.read()
        assert text.startswith(b"HTTP/1.1 200")
        assert text.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    "headers",
    [
        ("Origin: https://evil.example",),
        ("Origin: null",),
        ("Sec-Fetch-Site: cross-site",),
        ("Origin: http://localhost", "Sec-Fetch-Site: same-site"),
    ],
)
def test_no_web_page_calls(door: Served, headers: tuple[str, ...]) -> None:
    reply = door.call(post("/schedules", b"{}", *headers))
    assert (reply.status, reply.kind) == (403, "from-a-web-page")
    assert door.engine.came.empty()


def test_another_name_for_this_machine_is_refused(door: Served) -> None:
    assert door.call(get("/schedules", host="evil.example")).kind == "from-a-web-page"
    assert door.call(get("/schedules", "Origin: http://localhost:1", host="localhost:1")).status == 200


def test_a_websocket_stays_closed(door: Served) -> None:
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: x")
    assert door.call(get("/schedules", "Origin: https://evil.example", *upgrade)).status == 403
    assert door.call(get("/schedules", *upgrade)).status == 200, "no 101: it is a call as any other"

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(Door(lambda _: None, door.observer)({"type": "websocket"}, _nothing, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]


async def _nothing() -> Message:
    raise AssertionError("nothing is read")


def test_an_offer_of_http_2_is_not_taken_and_the_connection_goes_on(door: Served) -> None:
    """As clients of some languages make it with each call."""
    offer = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAAB")
    with door.connect() as client:
        for body in (b"1", b"2"):
            client.send(post("/schedules", body, *offer))
            assert client.reply().json()["body"] == body.decode()
        client.send(post("/schedules", b"\r\nUpgrade: h2c\r\n\r\nUpgrade: x"))
        assert client.reply().json()["body"] == "\r\nUpgrade: h2c\r\n\r\nUpgrade: x", "only a head is changed"
    with door.connect() as client:
        request = post("/schedules", b"1", *offer)
        client.send(request[:20])
        time.sleep(0.05)  # so that it comes in two pieces
        client.send(request[20:])
        assert client.reply().kind == "not-http", "a body is never left out silently"


@pytest.mark.parametrize(
    "sent", [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"nonsense\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n"]
)
def test_what_is_no_http_gets_a_problem(door: Served, sent: bytes) -> None:
    reply = door.call(sent)
    assert (reply.status, reply.kind, reply.headers["connection"]) == (400, "not-http", "close")


@pytest.mark.parametrize(
    ("raised", "status", "kind"),
    [
        (Unavailable("x"), 503, "unavailable"),
        (KeyError("secret"), 500, "unexpected"),
        (TimeoutError(), 503, "unavailable"),
    ],
)
def test_an_engine_that_takes_no_call_is_answered_for(raised: Exception, status: int, kind: str) -> None:
    def refuse(_: WaitingCall) -> None:
        raise raised

    with served(submit=refuse) as found:
        reply = found.call(post("/schedules", b"{}"))
        assert (reply.status, reply.kind) == (status, kind)
        assert b"secret" not in reply.body


def test_answers_to_many_calls_are_handed_over_at_once() -> None:
    engine = Engine(is_held=True)
    with served(engine) as found:
        clients = [found.connect() for _ in range(20)]
        for number, client in enumerate(clients):
            client.send(post("/schedules", str(number).encode()))
        calls = [engine.one() for _ in clients]
        twice = [(calls[0], echo(calls[0])), (calls[0], response(500, {}))]  # the second is nobody's
        deliver([*twice, *((call, echo(call)) for call in reversed(calls[1:]))])
        assert [client.reply().json()["body"] for client in clients] == [str(number) for number in range(20)]
        for client in clients:
            client.__exit__()


def test_an_answer_for_a_client_that_is_gone_is_dropped() -> None:
    engine = Engine(is_held=True)
    with served(engine) as found:
        with found.connect() as client:
            client.send(post("/schedules", b"gone"))
            gone = engine.one()
        with found.connect() as client:
            client.send(post("/schedules", b"there"))
            deliver([(one, echo(one)) for one in (gone, engine.one())])
            assert client.reply().json()["body"] == "there"
        deliver([])
    deliver([(gone, echo(gone))])  # and whoever is late for the loop itself


def test_while_the_engine_stops_calls_get_503_and_those_inside_their_answer() -> None:
    engine = Engine(is_held=True)
    with served(engine) as found, found.connect() as inside:
        inside.send(post("/schedules", b"inside"))
        call = engine.one()
        found.door.is_closed = True
        late = found.call(post("/schedules", b"late"))
        assert (late.status, late.kind) == (503, "not-now")
        assert (late.headers["retry-after"], late.headers["connection"]) == ("5", "close")
        assert "Nothing was done" in late.json()["detail"]
        found.server.stop()
        deliver([(call, echo(call))])
        assert inside.reply().json()["body"] == "inside"
        assert inside.is_closed()


def test_a_call_whose_answer_does_not_come_may_have_been_applied() -> None:
    with served(Engine(is_held=True), limits=DoorLimits(answer_seconds=0.05)) as found:
        reply = found.call(post("/schedules", b"{}"))
        assert (reply.status, reply.kind) == (503, "unavailable")
        assert "may or may not" in reply.json()["detail"]


def test_no_more_calls_wait_than_the_limit_says() -> None:
    engine = Engine(is_held=True)
    with served(engine, limits=DoorLimits(calls=2)) as found, found.connect() as one, found.connect() as two:
        one.send(post("/schedules", b"1"))
        two.send(post("/schedules", b"2"))
        calls = [engine.one(), engine.one()]
        third = found.call(post("/schedules", b"3"))
        assert (third.status, third.kind, third.headers["retry-after"]) == (503, "not-now", "1")
        deliver([(call, echo(call)) for call in calls])
        assert {one.reply().status, two.reply().status} == {200}
        engine.thread.start()
        assert found.call(post("/schedules", b"4")).status == 200


def test_what_lies_beside_the_api_guards_itself() -> None:
    async def console(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    with served(beside={"/console": console}) as found:
        link = ("Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")
        assert found.call(get("/console", *link)).status == 204
        assert found.call(get("/console/series", *link)).status == 204
        assert found.call(get("/consoles")).json()["function"] == "api-default"


def test_a_door_that_is_open_to_others_has_tokens(door: Served) -> None:
    with pytest.raises(ValueError, match="needs tokens"):
        Door(lambda _: None, door.observer, is_own=False)
