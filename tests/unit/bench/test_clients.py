"""A client follows its script, and whatever is not answered as expected is counted."""

import http.server
import threading
import time
from collections.abc import Iterator

import pytest

from bench import calls
from bench.calls import Answer, Call, Wanted
from bench.clients import Client, Clients, Script, Timed, summarise, timed
from local.errors import LocalStackError

GET = calls.get("id")


def script(seen: list[int], count: int) -> Script:
    for _ in range(count):
        answer = yield GET
        seen.append(answer.status)


def test_a_script_gets_each_answer_and_ends_when_it_will() -> None:
    statuses = iter([200, 503, 0])
    seen: list[int] = []
    made = list(timed(lambda _: Answer(next(statuses), b"why"), script(seen, 3), time.monotonic() + 60))
    assert seen == [200, 503, 0]
    assert [one.failure for one in made] == [None, "503: why", "no answer: why"]


def test_after_the_deadline_no_call_is_made() -> None:
    assert list(timed(lambda _: Answer(200, b""), script([], 3), time.monotonic())) == []


def test_a_script_without_a_call_makes_none() -> None:
    assert list(timed(lambda _: Answer(200, b""), script([], 0), time.monotonic() + 60)) == []


def test_failures_are_counted_by_what_came_and_are_no_part_of_the_speed() -> None:
    made = [Timed(0.01, None), Timed(0.03, None), Timed(9, "503: a"), Timed(9, "503: a"), Timed(9, "404: b")]
    row = summarise(8, made, 2)
    assert (row.calls, row.failed, row.per_second) == (5, 3, 1)
    assert row.p50_ms == pytest.approx(20)
    assert row.failures == {"503: a": 2, "404: b": 1}


def test_without_a_good_answer_there_is_no_median() -> None:
    row = summarise(8, [Timed(1, "503: a")], 2)
    assert (row.failed, row.per_second, row.p50_ms) == (1, 0, None)


class Refusing(http.server.BaseHTTPRequestHandler):
    """Answers every POST with 503."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(503)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"busy")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Stay silent."""


@pytest.fixture
def refusing() -> Iterator[int]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refusing)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
    server.server_close()


def test_a_refused_call_is_counted(refusing: int) -> None:
    def one_call() -> Script:
        yield calls.post(Wanted(0, "http://127.0.0.1:9"))

    row = Clients(refusing, 2).call_for(60, one_call)
    assert (row.clients, row.calls, row.failed, row.failures) == (2, 2, 2, {"503: busy": 2})


def test_a_refused_post_of_a_run_ends_it(refusing: int) -> None:
    with pytest.raises(LocalStackError, match=r"A POST was answered 503: busy\."):
        Clients(refusing, 2).post_all([Wanted(0, "http://127.0.0.1:9")], lambda: None)


def test_no_answer_at_all_is_an_answer_of_its_own() -> None:
    server = http.server.HTTPServer(("127.0.0.1", 0), Refusing)
    server.server_close()
    call: Call = GET
    failure = Client(server.server_port).send(call).failure(call)
    assert failure is not None
    assert failure.startswith("no answer: ConnectionRefusedError")
