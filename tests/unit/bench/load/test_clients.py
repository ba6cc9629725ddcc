"""A client follows its script, and an unexpected response is a failure."""

import http.server
import threading
import time
from collections.abc import Iterator

import pytest

from bench.load import calls
from bench.load.calls import NewSchedule, Response
from bench.load.clients import Client, Clients, Script, follow
from local.errors import EmulatorError

GET = calls.get("id")
NEW = NewSchedule(due=0, target="http://127.0.0.1:9")
OK = Response(status=200, body=b"")


def script(seen: list[int], count: int) -> Script:
    for _ in range(count):
        response = yield GET
        seen.append(response.status)


def test_a_script_gets_each_response_and_ends_by_itself() -> None:
    statuses = iter([200, 503, 0])
    seen: list[int] = []
    made = list(follow(lambda _: Response(status=next(statuses), body=b"why"), script(seen, 3), time.monotonic() + 60))
    assert seen == [200, 503, 0]
    assert [call.failure for call in made] == [None, "503: why", "no response: why"]


def test_after_the_deadline_no_call_is_made() -> None:
    assert list(follow(lambda _: OK, script([], 3), time.monotonic())) == []


def test_a_script_without_a_call_makes_none() -> None:
    assert list(follow(lambda _: OK, script([], 0), time.monotonic() + 60)) == []


class Refusing(http.server.BaseHTTPRequestHandler):
    """Responds to every POST with 503."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(503)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"busy")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Write nothing."""


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
        yield calls.post(NEW)

    row = Clients(refusing, 2).call_for(60, one_call)
    assert (row.clients, row.calls, row.failed, row.failures) == (2, 2, 2, {"503: busy": 2})


def test_a_refused_post_of_a_run_ends_it(refusing: int) -> None:
    with pytest.raises(EmulatorError, match=r"A POST failed: 503: busy\."):
        Clients(refusing, 2).post_all([NEW], lambda: None)


def test_no_response_at_all_is_a_failure_with_its_reason() -> None:
    server = http.server.HTTPServer(("127.0.0.1", 0), Refusing)
    server.server_close()
    failure = Client(server.server_port).send(GET).failure(GET)
    assert failure is not None
    assert failure.startswith("no response: ConnectionRefusedError")
