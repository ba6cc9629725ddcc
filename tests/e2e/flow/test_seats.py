"""A target that is limited to two attempts at a time gets no more, and everything in the end."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

import pytest
from attrs import Factory, define, field

from tests.e2e.client import Client, now
from tests.e2e.flow.test_waiting import flow, posted

MANY = 20
TAKES = 0.3  # seconds
OWNER = "seated"


@define
class Slow:
    """A target that counts how many requests it works on."""

    at_work: int = 0
    most: int = 0
    paths: list[str] = Factory(list)
    lock: Lock = field(factory=Lock)

    def work(self, path: str) -> None:
        with self.lock:
            self.paths.append(path)
            self.at_work += 1
            self.most = max(self.most, self.at_work)
        time.sleep(TAKES)
        with self.lock:
            self.at_work -= 1


@contextmanager
def served(slow: Slow) -> Iterator[str]:
    """Its host, while it is served."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            slow.work(self.path)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.thorough
def test_never_more_at_a_time_and_nothing_is_lost(client: Client) -> None:
    """It takes a dozen seconds: twenty attempts of a third of a second, two at a time."""
    slow = Slow()
    with served(slow) as host:
        said = flow(client, "limit", "--owner", OWNER, "--target", host, "--concurrency", "2", "--by", "eve")
        assert "Limited:" in said
        due = now() + 2 * client.known
        ids = [posted(client, OWNER, f"http://{host}/seated/{at}", due) for at in range(MANY)]
        for schedule_id in ids:
            client.ended(schedule_id, "executed", owner=OWNER)
        flow(client, "unlimit", "--owner", OWNER, "--target", host)
    assert sorted(slow.paths) == sorted(f"/seated/{at}" for at in range(MANY)), "each once"
    assert 0 < slow.most <= 2
