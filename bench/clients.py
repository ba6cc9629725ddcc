"""Clients of the API: a thread each, with one connection that is kept alive."""

import http.client
import itertools
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from attrs import field, frozen

from bench import calls
from bench.calls import Answer, Call, Wanted
from local.errors import LocalStackError

# What one client does: a call, then the next one, which may depend on the answer; its end is the end of the client.
Script = Generator[Call, Answer, None]


class Client(threading.local):
    """One connection per thread."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("localhost", port, timeout=60)

    def send(self, call: Call) -> Answer:
        """The answer, whatever it is; one with status 0 if there was none."""
        try:
            self.connection.request(call.method, call.path, call.body, dict(call.headers))
            answer = self.connection.getresponse()
            return Answer(answer.status, answer.read())
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()  # the next call opens it again
            return Answer(0, repr(error).encode())

    def post(self, wanted: Wanted, group: str = "") -> str:
        """The id of the new schedule; LocalStackError if it was refused."""
        call = calls.post(wanted, group=group)
        answer = self.send(call)
        if failure := answer.failure(call):
            raise LocalStackError(f"A POST was answered {failure}.")
        return answer.schedule_id()


class Clients:
    """A number of clients."""

    def __init__(self, port: int, count: int) -> None:
        self.client = Client(port)
        self.count = count

    def post_all(self, wanted: Sequence[Wanted], posted: Callable[[], object], group: str = "") -> dict[str, int]:
        """POST all as fast as the clients can; id -> due. Calls `posted` after each."""

        def post(one: Wanted) -> tuple[str, int]:
            schedule_id = self.client.post(one, group)
            posted()
            return schedule_id, one.due

        with ThreadPoolExecutor(self.count) as threads:
            return dict(threads.map(post, wanted))

    def post_at(self, moments: Sequence[tuple[float, Wanted]], posted: Callable[[], object]) -> dict[str, int]:
        """POST each at its moment (epoch seconds, ascending), or as soon after it as a client is free."""

        def post(moment: tuple[float, Wanted]) -> tuple[str, int]:
            at, wanted = moment
            time.sleep(max(at - time.time(), 0))
            schedule_id = self.client.post(wanted)
            posted()
            return schedule_id, wanted.due

        with ThreadPoolExecutor(self.count) as threads:
            return dict(threads.map(post, moments))

    def call_for(self, seconds: float, script: Callable[[], Script]) -> "Throughput":
        """Have each client follow a script of its own for this long, or until the scripts end."""
        began = time.monotonic()
        deadline = began + seconds

        def follow() -> list[Timed]:
            return list(timed(self.client.send, script(), deadline))

        with ThreadPoolExecutor(self.count) as threads:
            runs = [future.result() for future in [threads.submit(follow) for _ in range(self.count)]]
        return summarise(self.count, itertools.chain.from_iterable(runs), time.monotonic() - began)


@frozen
class Timed:
    """One call that was made."""

    seconds: float
    failure: str | None  # what was not as expected


def timed(send: Callable[[Call], Answer], script: Script, deadline: float) -> Iterable[Timed]:
    """Follow a script until the deadline (of the monotonic clock); a call that has begun by then is finished."""
    call = next(script, None)
    while call is not None and (start := time.monotonic()) < deadline:
        answer = send(call)
        yield Timed(time.monotonic() - start, answer.failure(call))
        try:
            call = script.send(answer)
        except StopIteration:
            return


@frozen(kw_only=True)
class Throughput:
    """What the clients got through. Speed is that of the calls answered as expected; the others are counted."""

    clients: int
    calls: int  # all that were made
    failed: int  # answered otherwise than expected, or not at all
    per_second: float
    p50_ms: float | None  # None: not one was answered as expected
    failures: dict[str, int] = field(factory=dict)  # what came instead -> how often


def summarise(clients: int, made: Iterable[Timed], seconds: float) -> Throughput:
    """The figures of all clients' calls."""
    everything = list(made)
    good = [one.seconds for one in everything if one.failure is None]
    return Throughput(
        clients=clients,
        calls=len(everything),
        failed=len(everything) - len(good),
        per_second=len(good) / seconds,
        p50_ms=statistics.median(good) * 1000 if good else None,
        failures=dict(Counter(one.failure for one in everything if one.failure is not None)),
    )
