"""The real `delayer serve` under load, to be killed: its clients, its target, and what they can say is broken.

Every rule holds whatever the timing is: a machine that is slow breaks none.
"""

import json
import os
import socket
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Event, Lock, Thread
from typing import Any, Final

from attrs import define, evolve, field, frozen

from delayer.schedule.instants import HOUR, SECOND, Millis, format_instant
from local.stack.ports import free_port
from tests.cfn import ROOT
from tests.crashes.killing import Victim
from tests.crashes.trying import Broken

HERE: Final = "127.0.0.1"
CLIENTS: Final = 3
PATIENCE: Final = 10.0  # seconds that a call waits
DRAINED: Final = 5.0  # seconds until no connection of a dead process is open
READY: Final = 60.0  # seconds; a second is enough, but not on a machine that has much else to do
ENDED: Final = 90.0  # seconds in which all that is due comes to its end, after the last kill
DOUBLED: Final = 256 + 64  # outcomes that are not on the disk, and attempts under way: more may not be repeated
TRIES: Final = 3  # the attempt that `/fails` takes
NAMES: Final = ("alpha", "beta", "gamma")
PATHS: Final = ("/quick", "/quick", "/quick", "/slow", "/fails", "/refuses")
SLOW: Final = 0.3  # seconds
RETRY: Final = {"maxAttempts": 5, "backoff": {"first": 1, "factor": 1, "max": 1}}
NO_ANSWER: Final = 503  # nobody knows
OVER: Final = frozenset({"executed", "failed", "cancelled", "replaced", "dropped", "dead-lettered"})


@frozen(kw_only=True)
class Arrival:
    """A request that reached the target."""

    id: str
    attempt: int
    key: str
    path: str
    number: int  # in its payload
    at: Millis
    life: int


@define
class Target:
    """Answers by the path. It knows in which life of the process each connection was made."""

    life: int = 0
    arrivals: list[Arrival] = field(factory=list)
    _open: int = 0
    _last: int = 0  # the port of the client whose connection was accepted last
    _lock: Lock = field(factory=Lock)
    _server: ThreadingHTTPServer = field(init=False)

    def __attrs_post_init__(self) -> None:
        target = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                at = int(time.time() * 1_000)
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status = target.arrived(self.path, dict(self.headers.items()), body, at)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Nothing."""

        class Server(ThreadingHTTPServer):
            request_queue_size = 256
            daemon_threads = True

            def process_request(self, request: Any, client_address: Any) -> None:
                """In the thread that accepts: none is open that is not counted."""
                target.accepted(client_address[1])
                super().process_request(request, client_address)

            def process_request_thread(self, request: Any, client_address: Any) -> None:
                try:
                    super().process_request_thread(request, client_address)
                finally:
                    target.ended()

            def handle_error(self, *_: object) -> None:
                """The process that asked is dead."""

        self._server = Server((HERE, 0), Handler)
        Thread(target=partial(self._server.serve_forever, poll_interval=0.05), daemon=True).start()

    def url(self, path: str) -> str:
        """Of one kind of answer."""
        return f"http://{HERE}:{self._server.server_port}{path}"

    def accepted(self, port: int) -> None:
        """A connection from there."""
        with self._lock:
            self._open += 1
            self._last = port

    def ended(self) -> None:
        """One of them."""
        with self._lock:
            self._open -= 1

    def arrived(self, path: str, headers: Mapping[str, str], body: Any, at: Millis) -> int:
        """Notes it. The status of the answer."""
        attempt = int(headers["Delayer-Attempt"])
        arrival = Arrival(
            id=headers["Delayer-Schedule-Id"],
            attempt=attempt,
            key=headers["Idempotency-Key"],
            path=path,
            number=body["n"],
            at=at,
            life=self.life,
        )
        with self._lock:
            self.arrivals.append(arrival)
        if path == "/slow":
            time.sleep(SLOW)
        if path == "/refuses":
            return 400
        return 425 if path == "/fails" and attempt < TRIES else 200

    def begins(self) -> None:
        """A new life. What the one before has sent is read by then: its connections are accepted, and closed.

        They are accepted in their order, so all are when one that was made after them is.
        """
        until = time.monotonic() + DRAINED
        with socket.create_connection((HERE, self._server.server_port)) as made_last:
            while self._last != made_last.getsockname()[1] and time.monotonic() < until:
                time.sleep(0.005)
        while self._open and time.monotonic() < until:
            time.sleep(0.005)
        if self._open:
            raise Broken("a connection of a process that is dead is still open")
        self.life += 1

    def close(self) -> None:
        """Nobody is answered any more."""
        self._server.shutdown()
        self._server.server_close()


@frozen(kw_only=True)
class Wanted:
    """One schedule as its client wants it."""

    number: int
    path: str
    due: Millis
    is_far: bool  # it never falls due here

    def body(self, target: Target) -> dict[str, Any]:
        """As it is sent."""
        return {
            "action": {"type": "http-request", "url": target.url(self.path)},
            "payload": {"n": self.number},
            "pointInTime": format_instant(self.due),
            "retry": RETRY,
        }

    @property
    def end(self) -> str:
        """The state to which it comes, if nobody takes it back."""
        if self.is_far:
            return "scheduled"
        return "failed" if self.path == "/refuses" else "executed"


@frozen(kw_only=True)
class Call:
    """One call. Until it has an answer, it is repeated as it is."""

    method: str
    path: str
    body: Any = None
    key: str = ""
    wanted: tuple[Wanted, ...] = ()  # what it makes
    of: str = ""  # the schedule that it cancels


@define
class Clients:
    """All who call, and all that they were answered."""

    target: Target
    port: int
    wanted: dict[str, Wanted] = field(factory=dict)  # that were accepted, by id
    cancelled: set[str] = field(factory=set)  # or replaced
    failed: dict[str, int] = field(factory=dict)  # before they were replaced; with how many arrivals there were then
    too_late: set[str] = field(factory=set)
    ended: dict[str, int] = field(factory=dict)  # by GET; with how many arrivals there were then
    fresh: list[str] = field(factory=list)  # accepted since the last check
    calls: Counter[str] = field(factory=Counter)
    unknown: list[Call] = field(factory=list)
    _numbers: int = 0
    _lock: Lock = field(factory=Lock)

    # ------------------------------------------------------------ load

    def load(self, is_dead: Event) -> None:
        """Some clients at a time, until the process is dead."""
        errors: list[Exception] = []
        threads = [Thread(target=self._calls, args=(number, is_dead, errors)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]

    def _calls(self, client: int, is_dead: Event, errors: list[Exception]) -> None:
        chance, connection = Random(f"{client}/{self.target.life}"), self.connection()
        try:
            while not is_dead.is_set():
                self._send(connection, self._next(chance), is_dead)
        except Exception as error:  # noqa: BLE001 - whatever it is
            errors.append(error)
        finally:
            connection.close()

    def _send(self, connection: HTTPConnection, call: Call, is_dead: Event) -> None:
        try:
            status, answer = answered(connection, call)
        except (OSError, HTTPException):
            self.unknown.append(call)
            if not is_dead.wait(PATIENCE):
                raise
            return
        self._heard(call, status, answer)

    def connection(self) -> HTTPConnection:
        """To the process, whichever life it has."""
        return HTTPConnection(HERE, self.port, timeout=PATIENCE)

    def _next(self, chance: Random) -> Call:
        kind = chance.random()
        with self._lock:
            known = list(self.wanted)[-200:]
        if kind < 0.2 and known:
            one = chance.choice(known)
            return Call(method="DELETE", path=f"/schedules/{one}", of=one)
        if kind < 0.3:
            some = tuple(self._want(chance) for _ in range(4))
            bodies = [{**one.body(self.target), "idempotencyKey": f"in-batch-{one.number}"} for one in some]
            return Call(method="POST", path="/schedules/batch", body={"schedules": bodies}, wanted=some)
        one_more = self._want(chance)
        named, body, key = chance.random() < 0.15, one_more.body(self.target), f"key-{one_more.number}"
        if named:
            path = f"/schedules/by-name/{chance.choice(NAMES)}"
            return Call(method="PUT", path=path, body=body, key=key, wanted=(one_more,))
        return Call(method="POST", path="/schedules", body=body, key=key, wanted=(one_more,))

    def _want(self, chance: Random) -> Wanted:
        with self._lock:
            self._numbers += 1
            number = self._numbers
        is_far = chance.random() < 0.2
        ahead = HOUR if is_far else chance.choice((0, chance.randint(0, SECOND), chance.randint(0, 4 * SECOND)))
        return Wanted(number=number, path=chance.choice(PATHS), due=int(time.time() * 1_000) + ahead, is_far=is_far)

    # ------------------------------------------------------------ what they hear

    def _heard(self, call: Call, status: int, answer: Any) -> None:
        with self._lock:
            self.calls[f"{call.method} {status}"] += 1
            if status == NO_ANSWER:
                self.unknown.append(call)
            elif call.of:
                self._taken_back(call, status)
            elif call.method == "PUT" and status == 409:
                pass  # what has the name is claimed
            elif status not in (200, 201):
                raise Broken(f"{call.method} {call.path} is answered {status}: {answer}")
            elif "results" in answer:
                self._has_batch(call, answer["results"])
            else:
                self.has(call.wanted[0], answer)

    def _has_batch(self, call: Call, results: Sequence[Any]) -> None:
        for one, result in zip(call.wanted, results, strict=True):
            if result["status"] in (200, 201):
                self.has(one, result["schedule"])
            else:  # a batch tells of each what became of it
                body = {**one.body(self.target)}
                single = Call(method="POST", path="/schedules", body=body, key=f"in-batch-{one.number}", wanted=(one,))
                self.unknown.append(single)

    def has(self, one: Wanted, shown: Mapping[str, Any]) -> None:
        schedule_id = shown["scheduleId"]
        before = self.wanted.setdefault(schedule_id, one)
        if before.number != one.number:
            raise Broken(f"{schedule_id} is of number {before.number}, and was answered to number {one.number}")
        self.fresh.append(schedule_id)
        if (old := shown.get("replaces")) and old not in self.cancelled:
            self.cancelled.add(old)
            if old in self.wanted and self.wanted[old].end == "failed":  # which keeps its name: it may be over
                self.failed[old] = self._reached(old)

    def _taken_back(self, call: Call, status: int) -> None:
        match status:
            case 200:
                self.cancelled.add(call.of)
            case 409:
                self.too_late.add(call.of)
            case _:
                raise Broken(f"the cancel of {call.of} is answered {status}")

    # ------------------------------------------------------------ what must be true

    def check(self, times: int, kill: int) -> None:
        """After a kill, when the next life is ready; after the last one, all comes to its end."""
        connection = self.connection()
        try:
            self._ask_again(connection)
            for schedule_id in self.fresh:
                self._look(connection, schedule_id)
            self.fresh.clear()
            if kill == times:
                self._come_to_an_end(connection)
        finally:
            connection.close()
        self.check_arrivals()

    def _ask_again(self, connection: HTTPConnection) -> None:
        """Who knows nothing asks again, with the same key."""
        until = time.monotonic() + PATIENCE
        while self.unknown:
            call = self.unknown.pop()
            self._heard(call, *answered(connection, call))
            if time.monotonic() > until:
                raise Broken(f"{call.method} {call.path} has no answer")

    def _look(self, connection: HTTPConnection, schedule_id: str) -> str:
        status, shown = answered(connection, Call(method="GET", path=f"/schedules/{schedule_id}"))
        if status != 200:
            raise Broken(f"{schedule_id} was accepted, and is lost: {status} {shown}")
        state = str(shown["state"])
        if schedule_id in self.cancelled and state not in ("cancelled", "replaced"):
            raise Broken(f"{schedule_id} was cancelled, and is {state}")
        if state in OVER and schedule_id not in self.cancelled:
            if state != self.wanted[schedule_id].end:
                raise Broken(f"{schedule_id} ({self.wanted[schedule_id]}) is {state}: {shown}")
            self.ended.setdefault(schedule_id, self._reached(schedule_id))
        return state

    def _reached(self, schedule_id: str) -> int:
        return sum(one.id == schedule_id for one in self.target.arrivals)

    def _come_to_an_end(self, connection: HTTPConnection) -> None:
        until = time.monotonic() + ENDED
        left = [one for one in self.wanted if one not in self.ended]
        while left:
            left = [one for one in left if self._look(connection, one) not in OVER and not self.wanted[one].is_far]
            if left and time.monotonic() > until:
                raise Broken(f"{len(left)} are lost, such as {left[0]}: {self._look(connection, left[0])}")
            time.sleep(0.1)

    def check_arrivals(self) -> None:
        """Of all that has arrived."""
        arrivals, lives = list(self.target.arrivals), dict[tuple[str, int], list[int]]()
        reached = Counter(one.id for one in arrivals)
        for one in arrivals:
            lives.setdefault((one.id, one.attempt), []).append(one.life)
            self._check_arrival(one)
        for schedule_id, before in (self.ended | self.failed).items():
            if reached[schedule_id] != before:
                raise Broken(f"{schedule_id} had ended, and reached its target again")
            if not before and schedule_id not in self.failed:
                raise Broken(f"{schedule_id} has ended, and never reached its target")
        repeated = Counter(life for found in lives.values() for life in found[1:])
        for (schedule_id, attempt), found in lives.items():
            if len(found) != len(set(found)):
                raise Broken(f"attempt {attempt} of {schedule_id} was made twice in one life: {found}")
        if any(number > DOUBLED for number in repeated.values()):
            raise Broken(f"more than {DOUBLED} attempts were repeated after one kill: {repeated}")

    def _check_arrival(self, one: Arrival) -> None:
        if one.id in self.cancelled and not self.failed.get(one.id):
            raise Broken(f"{one.id} was cancelled, and reached its target: {one}")
        if one.key != one.id:
            raise Broken(f"{one.id} has another idempotency key: {one}")
        wanted = self.wanted.get(one.id)
        if wanted is None:
            return  # nobody was told yet
        if (wanted.number, wanted.path) != (one.number, one.path):
            raise Broken(f"{one.id} is not what was asked for: {one}, {wanted}")
        if one.at < wanted.due:
            raise Broken(f"{one.id} reached its target {wanted.due - one.at} ms early")
        if one.attempt > (TRIES if one.path == "/fails" else 1):
            raise Broken(f"{one.id} was attempted again without a reason: {one}")

    def doubled(self) -> int:
        """How many attempts were made again after a kill."""
        return len(self.target.arrivals) - len({(one.id, one.attempt) for one in self.target.arrivals})


def answered(connection: HTTPConnection, call: Call) -> tuple[int, Any]:
    """Status and JSON. Raises OSError or HTTPException if nobody knows what became of it."""
    headers = {"Content-Type": "application/json"} | ({"Idempotency-Key": call.key} if call.key else {})
    try:
        connection.request(call.method, call.path, json.dumps(call.body) if call.body else None, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read() or b"null")
    except (OSError, HTTPException):
        connection.close()
        raise


def served(folder: Path, times: int, **how: Any) -> tuple[Victim, Clients]:
    """`delayer serve` on this folder, and those who call it. The target is closed by the caller."""
    clients = Clients(target=Target(), port=free_port())

    def is_ready() -> bool:
        connection = clients.connection()
        try:
            return answered(connection, Call(method="GET", path="/schedules?limit=1"))[0] == 200
        except HTTPException as error:
            raise OSError(error) from error
        finally:
            connection.close()

    arguments = ("serve", "--data", str(folder / "data"), "--port", str(clients.port))
    victim = Victim(
        command=(sys.executable, "-m", "delayer_client.cli", *arguments),
        folder=folder,
        is_ready=is_ready,
        load=clients.load,
        check=partial(clients.check, times),
        begins=clients.target.begins,
        environment={**os.environ, "PYTHONPATH": f"{ROOT / 'shared'}:{ROOT / 'client'}"},
        ready_within=READY,
    )
    return evolve(victim, **how), clients
