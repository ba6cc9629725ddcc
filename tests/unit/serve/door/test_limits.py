"""A client that is slow, or sends too much, gets its answer and is rid of; others notice nothing of it."""

import asyncio
import re
import time
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delayer.accept.rules.admission import MAX_BATCH_BYTES
from delayer.http.answers import Response
from delayer.http.problem import TooLarge
from delayer.serve.door.incoming import HeldBodies, Incoming, Message
from delayer.serve.door.limits import DoorLimits
from tests.cfn import ROOT
from tests.unit.serve.door.world import SECONDS, Engine, Served, echo, get, post, served

SMALL = DoorLimits(body=1_000, discarded=5_000, head=2_000)


@pytest.fixture(scope="module")
def small() -> Iterator[Served]:
    with served(limits=SMALL) as found:
        yield found


def test_the_limit_is_the_largest_that_the_api_documents() -> None:
    sizes = re.findall(r"[Aa]t most ([\d,]+) bytes of JSON", (ROOT / "openapi.yaml").read_text())
    assert max(int(one.replace(",", "")) for one in sizes) == MAX_BATCH_BYTES
    assert DoorLimits().body == MAX_BATCH_BYTES


def test_a_body_may_have_so_many_bytes(small: Served) -> None:
    assert small.call(post("/schedules", b"x" * 1_000)).status == 200


@pytest.mark.parametrize("size", [1_001, 4_000])
def test_one_that_is_larger_is_read_and_refused(small: Served, size: int) -> None:
    """The client is still writing: it would never see an answer, if the connection were closed before that."""
    with small.connect() as client:
        client.send(post("/schedules", b"x" * size))
        reply = client.reply()
        assert (reply.status, reply.kind) == (413, "body-too-large")
        assert "1,000 bytes" in reply.json()["detail"]
        client.send(post("/schedules", b"{}"))
        assert client.reply().status == 200, "its end has come, so the connection goes on"


def test_not_for_ever(small: Served) -> None:
    with small.connect() as client:
        client.send(get("/schedules", "Transfer-Encoding: chunked", method="POST"))
        client.send(b"1770\r\n" + b"x" * 6_000 + b"\r\n")
        assert client.reply().kind == "body-too-large"
        assert client.is_closed()


def test_whoever_asks_first_sends_nothing_in_vain(small: Served) -> None:
    with small.connect() as client:
        client.send(get("/schedules", "Content-Length: 1001", "Expect: 100-continue", method="POST"))
        assert client.reply().status == 413
        assert client.is_closed()
    with small.connect() as client:
        client.send(get("/schedules", "Content-Length: 3", "Expect: 100-continue", method="POST"))
        assert client.reply().status == 100
        client.send(b"abc")
        assert client.reply().json()["body"] == "abc"


@pytest.mark.parametrize("is_whole", [True, False])
def test_headers_that_are_too_large(small: Served, is_whole: bool) -> None:
    request = get("/schedules", f"X: {'x' * 3_000}")
    with small.connect() as client:
        client.send(request if is_whole else request[:2_500])
        reply = client.reply()
        assert (reply.status, reply.kind) == (431, "headers-too-large")
        assert client.is_closed()


def test_a_head_that_does_not_end() -> None:
    with served(limits=DoorLimits(head_seconds=0.05)) as found, found.connect() as client:
        client.send(b"GET /schedules HTTP/1.1\r\nHost: localh")
        reply = client.reply()
        assert (reply.status, reply.kind) == (408, "too-slow")
        assert client.is_closed()


@pytest.mark.parametrize("sent", [b"", b"\r\n"])
def test_a_connection_without_a_request_is_closed_without_a_word(sent: bytes) -> None:
    with served(limits=DoorLimits(head_seconds=0.05)) as found, found.connect() as client:
        client.send(sent)
        assert client.is_closed()


@pytest.mark.parametrize("sent", [b"GET /schedules HTTP/1.1\r\nX", b"\r\n"])
def test_nor_does_it_help_to_have_called_before(sent: bytes) -> None:
    with served(limits=DoorLimits(head_seconds=0.3)) as found, found.connect() as client:
        client.send(get("/schedules"))
        assert client.reply().status == 200
        client.send(sent)
        if sent.strip():
            assert client.reply().kind == "too-slow"
        assert client.is_closed()


def test_a_body_that_does_not_end() -> None:
    with served(limits=DoorLimits(body_seconds=0.05)) as found, found.connect() as client:
        client.send(get("/schedules", "Content-Length: 5", method="POST") + b"1234")
        reply = client.reply()
        assert (reply.status, reply.kind) == (408, "too-slow")
        assert client.is_closed()
        assert found.engine.came.empty()


def test_the_rest_of_a_body_that_nobody_wants_is_not_waited_for() -> None:
    """The call was refused by its headers."""
    with served() as found, found.connect() as client:
        client.send(get("/schedules", "Content-Length: 5", method="POST", host="evil.example") + b"1234")
        assert client.reply().status == 403
        assert client.is_closed()


def test_a_client_that_goes_away_in_the_middle_of_its_body_is_no_call() -> None:
    with served() as found:
        with found.connect() as client:
            client.send(get("/schedules", "Content-Length: 5", method="POST") + b"1234")
        assert found.call(get("/schedules")).status == 200
        assert found.observer.lines == []


def test_a_client_that_does_not_read_its_answer_is_cut_off() -> None:
    """It gives its place, the only one, to others. It takes a second: kernels hold some megabytes for it."""
    large = Response(status=200, body="x" * 20_000_000)
    engine = Engine(lambda call: large if call.request.path == "/schedules" else echo(call))
    with served(engine, limits=DoorLimits(send_seconds=0.05, connections=1)) as found, found.connect() as client:
        client.send(get("/schedules"))
        until = time.monotonic() + SECONDS
        while not is_answered(found):
            assert time.monotonic() < until
            time.sleep(0.01)
        assert len(client.reply().body) < 20_000_000


def is_answered(found: Served) -> bool:
    """Whether another client gets in."""
    try:
        return found.call(get("/jobs/a")).status == 200
    except (ConnectionError, IndexError):  # it was refused before its request was read
        return False


def test_no_more_connections_than_the_limit_says() -> None:
    with served(limits=DoorLimits(connections=1)) as found, found.connect() as client:
        client.send(get("/schedules"))
        assert client.reply().status == 200
        with found.connect() as other:
            reply = other.reply()
            assert (reply.status, reply.kind) == (503, "not-now")
            assert other.is_closed()
        client.send(get("/schedules"))
        assert client.reply().status == 200


def test_bodies_are_held_up_to_a_limit_and_given_back() -> None:
    engine = Engine(is_held=True)
    with served(engine, limits=DoorLimits(held=1_000)) as found, found.connect() as first:
        first.send(post("/schedules", b"x" * 600))
        call = engine.one()
        assert found.call(post("/schedules", b"x" * 600)).kind == "not-now"
        engine.came.put(call)
        engine.thread.start()
        assert first.reply().status == 200
        assert found.call(post("/schedules", b"x" * 600)).status == 200


# ------------------------------------------------------------ in whatever pieces a body comes


def read(pieces: list[bytes], limits: DoorLimits, held: HeldBodies, headers: dict[str, str]) -> bytes | None:
    messages: list[Message] = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    messages[-1]["more_body"] = False

    async def receive() -> Message:
        return messages.pop(0)

    async def body() -> bytes | None:
        with Incoming(receive, limits, held) as incoming:
            return await incoming.body(headers)

    return asyncio.run(body())


@settings(max_examples=50, deadline=None)
@given(st.lists(st.binary(max_size=12), min_size=1, max_size=8), st.text(max_size=4))
def test_a_body_is_what_was_sent_or_too_large(pieces: list[bytes], declared: str) -> None:
    limits, held = DoorLimits(body=20, discarded=40), HeldBodies(20)
    sent = b"".join(pieces)
    headers = {"content-length": declared}
    if len(sent) > 20:
        with pytest.raises(TooLarge):
            read(pieces, limits, held, headers)
    else:
        assert read(pieces, limits, held, headers) == sent
    held.add(20)  # all was given back


@pytest.mark.parametrize("declared", ["²", "9" * 5_000, "-1", "", "x"])
def test_what_is_declared_is_not_trusted(declared: str) -> None:
    headers = {"content-length": declared, "expect": "100-continue"}
    if len(declared) > 15:
        with pytest.raises(TooLarge):
            read([b""], DoorLimits(), HeldBodies(10), headers)
    else:
        assert read([b"x"], DoorLimits(), HeldBodies(10), headers) == b"x"
