"""An HTTP server that records the requests it gets and when: the target of demonstration, tests and benchmarks.

Requests of web pages are refused and not recorded: they would fill the terminal and the memory, or pretend to come from
Delayer.
"""

import sys
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from attrs import frozen

from delayer.http.web_pages import Doorkeeper, headers_by_name

DOOR = Doorkeeper(own_pages=False, subdomains=False)
NO_MORE: Mapping[str, str] = {}  # headers
LARGEST_BODY = 1 << 20  # bytes; a schedule's payload is smaller


@frozen(kw_only=True)
class ReceivedRequest:
    """One request that arrived."""

    at_ms: int  # epoch milliseconds, taken when the request line and headers had been read
    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: bytes
    status: int  # of the response


class Receiver:
    """Listens on 127.0.0.1 until stopped. It responds with 200, or with the status that was set for a path."""

    def __init__(self, port: int = 0) -> None:
        self.requests: list[ReceivedRequest] = []
        self.statuses: dict[str, int] = {}
        self.failures: dict[str, tuple[int, int]] = {}
        self.delays: dict[str, int] = {}
        self.counts: dict[str, int] = defaultdict(int)
        self.changed = threading.Condition()
        self.server = Server(("127.0.0.1", port), handler_for(self))
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self) -> Self:
        serve = partial(self.server.serve_forever, poll_interval=0.05)  # s; so long does the end take
        threading.Thread(target=serve, daemon=True, name="receiver").start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, path: str, status: int) -> None:
        """Respond to requests for this path with this status from now on."""
        self.statuses[path] = status

    def fail_first(self, path: str, times: int, status: int = 503) -> None:
        """Respond to the first requests for this path with an error, and to later ones as usual."""
        self.failures[path] = (times, status)

    def ask_for_delay(self, path: str, seconds: int) -> None:
        """Respond to the next request for this path with `Retry-After`."""
        self.delays[path] = seconds

    def delay_for(self, path: str) -> Mapping[str, str]:
        """The header that asks for it, once."""
        delay = self.delays.pop(path, None)
        return NO_MORE if delay is None else {"Retry-After": str(delay)}

    def record(self, at_ms: int, method: str, path: str, headers: Mapping[str, str], body: bytes) -> int:
        """Record one request; the status of the response to it."""
        with self.changed:
            self.counts[path] += 1
            times, failure = self.failures.get(path, (0, 0))
            status = failure if self.counts[path] <= times else self.statuses.get(path, 200)
            self.requests.append(
                ReceivedRequest(at_ms=at_ms, method=method, path=path, headers=headers, body=body, status=status)
            )
            self.changed.notify_all()
            return status

    def of(self, path: str) -> list[ReceivedRequest]:
        """The requests for this path, in order of arrival."""
        with self.changed:
            return [request for request in self.requests if request.path == path]

    def wait_for(self, count: int, path: str | None = None, seconds: float = 10.0) -> list[ReceivedRequest]:
        """Wait for this many requests, for one path or for all, and return them; TimeoutError after `seconds`."""

        def arrived() -> list[ReceivedRequest]:
            return [request for request in self.requests if path in (None, request.path)]

        with self.changed:
            if not self.changed.wait_for(lambda: len(arrived()) >= count, timeout=seconds):
                raise TimeoutError(f"{len(arrived())} of {count} requests arrived within {seconds} s.")
            return arrived()


class Server(ThreadingHTTPServer):
    """Accepts a burst of connections."""

    request_queue_size = 1024
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed has closed its connection; that is no error of this server."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def send_headers(handler: BaseHTTPRequestHandler, headers: Mapping[str, str]) -> None:
    """All headers of a response."""
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()


def refusal_of(headers: Mapping[str, str], size: str) -> HTTPStatus | None:
    """The status for a request that is not read, of a web page or with this `Content-Length`; None for another one."""
    if DOOR.refusal_of(headers):
        return HTTPStatus.FORBIDDEN
    if not (size.isascii() and size.isdigit()):
        return HTTPStatus.BAD_REQUEST
    if len(size) > 7 or int(size) > LARGEST_BODY:  # Python reads no number of thousands of digits
        return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    return None


def handler_for(receiver: Receiver) -> type[BaseHTTPRequestHandler]:
    """The request handler that reports to this receiver."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Otherwise each response waits for the client's delayed acknowledgement.
        disable_nagle_algorithm = True

        def handle_any(self) -> None:
            at_ms = time.time_ns() // 1_000_000
            headers = headers_by_name(self.headers.items())
            size = headers.get("content-length", "0")
            if refusal := refusal_of(headers, size):
                self.refuse(refusal)
                return
            body = self.rfile.read(int(size))
            if len(body) < int(size):  # its sender was killed, and sends it again: no request arrived
                self.close_connection = True
                return
            status = receiver.record(at_ms, self.command, self.path, headers, body)
            self.respond(status, receiver.delay_for(self.path))

        def respond(self, status: int, headers: Mapping[str, str] = NO_MORE) -> None:
            self.send_response(status)
            send_headers(self, {"Content-Length": "0", **headers})

        def refuse(self, status: int) -> None:
            """Respond, and close the connection: its body was not read."""
            self.close_connection = True
            self.respond(status)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815 - http.server's names

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
            """Write nothing."""

    return Handler
