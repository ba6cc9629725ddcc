"""Clients of the API: a thread each, with one connection that is kept alive."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from attrs import frozen

from local.errors import LocalStackError


@frozen
class Wanted:
    """A schedule to be POSTed."""

    due: int  # point in time, epoch ms
    target: str  # URL to be called


class Client(threading.local):
    """One connection per thread."""

    def __init__(self, port: int) -> None:
        self.connection = http.client.HTTPConnection("localhost", port, timeout=60)

    def post(self, wanted: Wanted) -> str:
        """The id of the new schedule; LocalStackError if it was refused."""
        self.connection.request("POST", "/schedules", body_of(wanted), {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        content = answer.read()
        if answer.status != 201:
            raise LocalStackError(f"A POST was answered {answer.status}: {content.decode(errors='replace')}.")
        return str(json.loads(content)["scheduleId"])


def body_of(wanted: Wanted) -> str:
    """The request body."""
    due = datetime.fromtimestamp(wanted.due / 1000, UTC).isoformat(timespec="milliseconds")
    action = {"type": "http-request", "method": "POST", "url": wanted.target}
    return json.dumps({"pointInTime": due, "action": action, "payload": {"benchmark": True}})


class Poster:
    """A number of clients."""

    def __init__(self, port: int, clients: int) -> None:
        self.client = Client(port)
        self.clients = clients

    def post_all(self, wanted: Sequence[Wanted], posted: Callable[[], object]) -> dict[str, int]:
        """POST all as fast as the clients can; id -> due. Calls `posted` after each."""

        def post(one: Wanted) -> tuple[str, int]:
            schedule_id = self.client.post(one)
            posted()
            return schedule_id, one.due

        with ThreadPoolExecutor(self.clients) as threads:
            return dict(threads.map(post, wanted))

    def post_at(self, moments: Sequence[tuple[float, Wanted]], posted: Callable[[], object]) -> dict[str, int]:
        """POST each at its moment (epoch seconds, ascending), or as soon after it as a client is free."""

        def post(moment: tuple[float, Wanted]) -> tuple[str, int]:
            at, wanted = moment
            time.sleep(max(at - time.time(), 0))
            schedule_id = self.client.post(wanted)
            posted()
            return schedule_id, wanted.due

        with ThreadPoolExecutor(self.clients) as threads:
            return dict(threads.map(post, moments))

    def post_for(self, seconds: float, wanted: Wanted) -> "Throughput":
        """POST the same again and again for this long."""
        began = time.monotonic()
        deadline = began + seconds

        def post_on() -> list[float]:
            durations = []
            while (start := time.monotonic()) < deadline:
                self.client.post(wanted)
                durations.append(time.monotonic() - start)
            return durations

        with ThreadPoolExecutor(self.clients) as threads:
            runs = [future.result() for future in [threads.submit(post_on) for _ in range(self.clients)]]
        durations = sorted(duration for run in runs for duration in run)
        return Throughput(
            clients=self.clients,
            posts=len(durations),
            per_second=len(durations) / (time.monotonic() - began),
            p50_ms=durations[len(durations) // 2] * 1000,
        )


@frozen(kw_only=True)
class Throughput:
    """What the clients got through."""

    clients: int
    posts: int
    per_second: float
    p50_ms: float  # how long half of the POSTs took at most
