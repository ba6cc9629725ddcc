"""Clients of the API: a thread for each, with one connection that is kept alive."""

import http.client
import itertools
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import local

from bench.load import calls
from bench.load.calls import Call, NewSchedule, Response
from bench.load.throughput import Throughput, TimedCall, summarise
from local.errors import EmulatorError

# What one client does: it yields a call and gets the response, on which its next call may depend. The client ends
# where its script ends.
Script = Generator[Call, Response, None]


class Client(local):
    """One connection per thread."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("localhost", port, timeout=60)

    def send(self, call: Call) -> Response:
        """The response, with status 0 if there was none."""
        try:
            self.connection.request(call.method, call.path, call.body, dict(call.headers))
            response = self.connection.getresponse()
            return Response(status=response.status, body=response.read())
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()  # the next call opens it again
            return Response(status=0, body=repr(error).encode())

    def post(self, new: NewSchedule, group: str = "") -> str:
        """Create a schedule and return its id; EmulatorError if it was refused."""
        call = calls.post(new, group=group)
        response = self.send(call)
        if failure := response.failure(call):
            raise EmulatorError(f"A POST failed: {failure}.")
        return response.schedule_id()


class Clients:
    """Several clients that call at the same time."""

    def __init__(self, port: int, count: int) -> None:
        self.client = Client(port)
        self.count = count

    def post_all(
        self, schedules: Sequence[NewSchedule], posted: Callable[[], object], group: str = ""
    ) -> dict[str, int]:
        """POST all as fast as the clients can; id -> due. Calls `posted` after each."""
        return self.post_at([(0, new) for new in schedules], posted, group)

    def post_at(
        self, moments: Sequence[tuple[float, NewSchedule]], posted: Callable[[], object], group: str = ""
    ) -> dict[str, int]:
        """POST each at its moment (epoch seconds, ascending), or as soon after it as a client is free; id -> due."""

        def post(moment: tuple[float, NewSchedule]) -> tuple[str, int]:
            at, new = moment
            time.sleep(max(at - time.time(), 0))
            schedule_id = self.client.post(new, group)
            posted()
            return schedule_id, new.due

        with ThreadPoolExecutor(self.count) as threads:
            return dict(threads.map(post, moments))

    def send_all(self, wanted: Sequence[Call], sent: Callable[[], object]) -> None:
        """Make all calls as fast as the clients can; EmulatorError if one was refused. Calls `sent` after each."""

        def send(call: Call) -> None:
            if failure := self.client.send(call).failure(call):
                raise EmulatorError(f"{call.method} {call.path} failed: {failure}.")
            sent()

        with ThreadPoolExecutor(self.count) as threads:
            list(threads.map(send, wanted))

    def call_for(self, seconds: float, script: Callable[[], Script]) -> Throughput:
        """Let each client follow a script of its own for this long, or until the scripts end."""
        began = time.monotonic()
        deadline = began + seconds

        def run() -> list[TimedCall]:
            return list(follow(self.client.send, script(), deadline))

        with ThreadPoolExecutor(self.count) as threads:
            runs = [future.result() for future in [threads.submit(run) for _ in range(self.count)]]
        return summarise(self.count, itertools.chain.from_iterable(runs), time.monotonic() - began)


def follow(send: Callable[[Call], Response], script: Script, deadline: float) -> Iterable[TimedCall]:
    """Follow a script until the deadline (of the monotonic clock). A call that has begun by then is finished."""
    call = next(script, None)
    while call is not None and (start := time.monotonic()) < deadline:
        response = send(call)
        yield TimedCall(seconds=time.monotonic() - start, failure=response.failure(call))
        try:
            call = script.send(response)
        except StopIteration:
            return
