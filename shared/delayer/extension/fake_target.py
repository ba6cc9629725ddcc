"""A web server on this machine, in the place of what a function calls. It needs Python's own library alone."""

import json
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self

from attrs import field, frozen

OK: Final = 200


@frozen(kw_only=True)
class Answer:
    """One answer of the target."""

    status: int = OK
    headers: Mapping[str, str] = field(factory=dict)
    body: str = ""


@frozen(kw_only=True)
class Received:
    """A request that arrived."""

    method: str
    path: str  # with the query
    headers: Mapping[str, str]  # names in lower case
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


class FakeTarget:
    """Answers by a script, and remembers what it was asked.

    `with FakeTarget([503, Answer(status=200, body="ok")]) as target:` serves at `target.url`. A number is a status.
    When the script is over, each answer is 200.
    """

    def __init__(self, answers: Sequence[int | Answer] = ()) -> None:
        self.requests: list[Received] = []
        self._answers = [one if isinstance(one, Answer) else Answer(status=one) for one in answers]
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        serve = partial(self._server.serve_forever, poll_interval=0.01)  # s; so long does the end take
        threading.Thread(target=serve, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, received: Received) -> Answer:
        """The next answer of the script."""
        with self._lock:
            self.requests.append(received)
            return self._answers.pop(0) if self._answers else Answer()


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    def __init__(self, target: FakeTarget, *given: Any) -> None:
        self.target = target
        super().__init__(*given)

    def handle_request(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        received = Received(method=self.command, path=self.path, headers=headers, body=self.rfile.read(length))
        answer = self.target.answer(received)
        body = answer.body.encode()
        self.send_response(answer.status)
        for name, value in {**answer.headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_request  # noqa: N815 - their names in Python's library

    def log_message(self, *_: Any) -> None:
        """Silent."""
