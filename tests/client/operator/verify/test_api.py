"""Calls of the API, against a server on this machine: signed as the caller wants it, and repeated where it helps."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from botocore.credentials import Credentials

from delayer_client.operator.verify.api import TRIES, Api, NoAnswer, WithSignature, WithToken, unsigned


class Server(ThreadingHTTPServer):
    statuses: list[int]
    seen: list[tuple[str, dict[str, str], bytes]]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.seen.append((f"{self.command} {self.path}", headers, body))
        self.send_response(self.server.statuses.pop(0))
        self.send_header("Retry-After", "0.01")
        content = json.dumps({"n": len(self.server.seen)}).encode()
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = answer  # noqa: N815 - as http.server wants it

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server(("127.0.0.1", 0), Handler)
    server.statuses, server.seen = [], []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def an_api(server: Server, sign: Any = unsigned) -> Api:
    return Api(url=f"http://127.0.0.1:{server.server_port}", sign=sign)


def test_a_post_has_a_key_so_that_it_can_be_repeated(server: Server) -> None:
    """429 and 503 are no ends."""
    server.statuses = [503, 429, 201]
    answer = an_api(server).post("/schedules", {"a": 1}, key="k")
    assert (answer.status, answer.content) == (201, {"n": 3})
    assert {(what, headers["idempotency-key"], body) for what, headers, body in server.seen} == {
        ("POST /schedules", "k", b'{"a": 1}')
    }


def test_what_is_never_answered_says_so(server: Server) -> None:
    server.statuses = [503] * TRIES
    with pytest.raises(NoAnswer, match="GET /schedules/x: 503"):
        an_api(server).get("/schedules/x")


def test_nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(NoAnswer, match="refused"):
        Api(url="http://127.0.0.1:9", sign=unsigned).delete("/schedules/x")


def test_signed_with_the_credentials_of_the_caller(server: Server) -> None:
    """And a session token, if there is one. The signature covers method, path and body."""
    server.statuses = [200] * 3
    signed = WithSignature(credentials=Credentials("AKIA", "secret", "session"), region="eu-west-1")
    an_api(server, signed).post("/schedules/batch", {"a": 1})
    an_api(server, WithToken(token="t")).get("/x")
    an_api(server).get("/x")
    (_, first, _), (_, second, _), (_, third, _) = server.seen
    assert "Credential=AKIA/" in first["authorization"]
    assert "/eu-west-1/execute-api/aws4_request" in first["authorization"]
    assert first["x-amz-security-token"] == "session"
    assert second["authorization"] == "Bearer t"
    assert "authorization" not in third


def test_how_far_the_two_clocks_are_apart(server: Server) -> None:
    server.statuses = [200] * 3
    api = an_api(server)
    assert api.clock_difference() == 0
    for _ in range(3):
        api.get("/x")
    assert abs(api.clock_difference()) < 1.5
