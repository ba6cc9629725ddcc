"""A web server on this machine, as the target of an attempt; and the attempt."""

import contextlib
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from typing import Any

from attrs import frozen

from delayer.actions.rules.model import Message, Result
from delayer.schedule.messages import ExecutorMessage
from delayer.targets.http_request import HttpTarget, Request
from delayer.targets.public_addresses import Resolve, resolve
from tests.samples import NOW, an_executor_message

Answer = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers as the test says, and remembers what it was sent."""

    server: "Server"

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        headers = [(name.lower(), value) for name, value in self.headers.items()]
        self.server.lines.append(self.requestline)
        self.server.requests.append((self.command, self.path, dict(headers), self.rfile.read(length)))
        if len(dict(headers)) < len(headers):
            self.send_error(400, "a header twice")
            return
        self.server.reply(self)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - their names in the standard library

    def log_message(self, *_: Any) -> None:
        """Silent."""


class Server(ThreadingHTTPServer):
    """On a free port of 127.0.0.1."""

    daemon_threads = True
    reply: Answer
    requests: list[tuple[str, str, dict[str, str], bytes]]

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.lines: list[str] = []  # the first of each request: of `requests`, the path has one slash at its beginning


def status(code: int, **headers: str) -> Answer:
    def reply(handler: Handler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return reply


def raw(answer: bytes) -> Answer:
    """These bytes, and the end of the connection."""

    def reply(handler: Handler) -> None:
        with contextlib.suppress(OSError):
            handler.wfile.write(answer)
        handler.close_connection = True

    return reply


def message(server: Server | None = None, url: str = "", payload: str = '{"a": 1}', **fields: Any) -> ExecutorMessage:
    url = url or f"http://target.example:{server.server_port if server else 1}/hook?x=1"
    action = json.dumps({"type": "http-request", "url": url, **fields})
    return an_executor_message(NOW + 250, action=action, payload=payload, attempt=3)


@frozen
class Unchecked:
    """The target without the class of its action: what an earlier version may have stored gets as far as this."""

    http: HttpTarget

    def __call__(self, message: ExecutorMessage) -> Result:
        action, schedule = json.loads(message.schedule.definition.action), message.schedule
        request = Request(
            url=action["url"],
            method=action.get("method", "POST"),
            headers=action.get("headers", {}),
            timeout=action.get("timeoutSeconds", 10),
        )
        attempt: Message[None] = Message(
            action=None,
            payload=schedule.definition.payload,
            schedule_id=schedule.id,
            owner=schedule.owner,
            point_in_time=schedule.point_in_time,
            attempt=message.attempt,
        )
        return self.http.send(request, attempt)


def http_target(*, allow_private: bool, resolve: Resolve = resolve, private: str = "") -> Unchecked:
    networks = tuple(ip_network(one) for one in private.split())
    return Unchecked(HttpTarget(allow_private=allow_private, resolve=resolve, private=networks))


def to_this_machine(host: str, port: int) -> list[str]:
    return ["127.0.0.1"]
