"""A client of an engine, or of a stack: `delayer` as users have it, `call` for the raw protocol."""

import http.client
import json
import time
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol, TypeVar
from uuid import uuid4

from attrs import define, field

from delayer.schedule.instants import SECOND, Millis, format_instant
from delayer_client import Delayer, HttpRequest, Retrying, Schedule
from delayer_client.api.models import HistoryEntry
from delayer_client.operator import OperatorEngine, OperatorStack
from local.project import PROJECT
from local.receiver import ReceivedRequest, Receiver
from local.stack.running_stack import RunningStack
from tests.e2e.engine import RunningEngine
from tests.e2e.operate.commands import command, done, own_command

# How long something may take while other tests keep the machine busy: longer than a message is invisible if the timeout
# has ended its relay. What comes at once keeps no test waiting. How late it is as a rule is asked in test_firing.py.
PATIENCE: Final = 90  # seconds
LATE: Final = 80 * SECOND
NOBODY: Final = ""  # whoever does not say who they are
TRIES: Final = 4  # of a call that is answered 503, which on a busy machine says that nobody knows: one asks again
REPEATED: Final = Retrying(times=TRIES - 1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Answer = tuple[int, dict[str, str], dict[str, Any]]
Seen = TypeVar("Seen")


def now() -> Millis:
    return time.time_ns() // 1_000_000


def millis(at: datetime | None) -> Millis:
    """An instant of an answer."""
    assert at
    return (at - EPOCH) // timedelta(milliseconds=1)


def until(look: Callable[[], Seen], is_so: Callable[[Seen], object] = bool, seconds: float = PATIENCE) -> Seen:
    """What is seen, once it is so."""
    deadline = time.monotonic() + seconds
    while not is_so(seen := look()):
        assert time.monotonic() < deadline, seen
        time.sleep(0.05)
    return seen


class Served(Protocol):
    """What answers: an engine, or a stack."""

    @property
    def port(self) -> int:
        """Of the API, on this machine."""

    @property
    def api_url(self) -> str:
        """Of the API."""


@define
class Client:
    """Who is called, the receiver that the schedules are for, and whose they are unless a call says otherwise."""

    served: Served
    receiver: Receiver
    owner: str = NOBODY
    posted: dict[str, Schedule] = field(factory=dict)  # by path of the target
    delayer: Delayer = field(init=False)
    _delayers: dict[tuple[str, Retrying], Delayer] = field(factory=dict, init=False)

    def __attrs_post_init__(self) -> None:
        self.delayer = self.delayer_of(self.owner)

    def close(self) -> None:
        for each in self._delayers.values():
            each.close()

    @property
    def api_url(self) -> str:
        return self.served.api_url

    @property
    def operator(self) -> OperatorEngine | OperatorStack:
        """What its operator does, in Python."""
        raise NotImplementedError

    @property
    def known(self) -> Millis:
        """After this, all that fires schedules has read anew what an operator has decided."""
        return 3 * SECOND

    @property
    def lead(self) -> Millis:
        """So long before its time a schedule is claimed."""
        raise NotImplementedError

    def commanded(self, name: str, *arguments: str) -> str:
        """What `delayer` has said to its operator, such as `delayer flow list`; it has to succeed."""
        raise NotImplementedError

    def delayer_of(self, owner: str, retrying: Retrying = REPEATED) -> Delayer:
        """The client of an owner, or of NOBODY."""
        key = (owner, retrying)
        if key not in self._delayers:
            self._delayers[key] = Delayer(self.api_url, owner=owner, timeout=30, retrying=retrying)
        return self._delayers[key]

    def target(self, path: str, **more: Any) -> HttpRequest:
        """A request to the receiver."""
        return HttpRequest(url=self.receiver.url + path, **more)

    def post(self, body: object) -> Answer:
        """Status, headers and body of the answer to a POST."""
        return self.call("POST", "/schedules", body)

    def call(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Answer:
        """Status, headers and body of the answer. What is asked again has the same key, so that it is the same call."""
        said = {"Content-Type": "application/json", "Idempotency-Key": uuid4().hex}
        said |= {"Delayer-Owner": self.owner} if self.owner else {}
        sent = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        for _ in range(TRIES):
            answer = self.call_once(method, path, sent, {**said, **(headers or {})})
            if answer[0] != http.client.SERVICE_UNAVAILABLE:
                break
            time.sleep(0.5)
        return answer

    def call_once(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Answer:
        """The same, without a repeat."""
        connection = http.client.HTTPConnection("127.0.0.1", self.served.port, timeout=30)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        content = json.loads(answer.read())
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content

    def schedule(
        self, path: str, due: Millis, payload: object = None, *, owner: str | None = None, **more: Any
    ) -> Schedule:
        """A request to the receiver, accepted."""
        made = self.of(owner).schedule(self.target(path), at=format_instant(due), payload=payload, **more)
        self.posted[path] = made
        return made

    def of(self, owner: str | None, retrying: Retrying = REPEATED) -> Delayer:
        """The client of an owner; None is that of this client."""
        return self.delayer_of(self.owner if owner is None else owner, retrying)

    def arrivals(self, path: str, seconds: float = PATIENCE, count: int = 1) -> list[ReceivedRequest]:
        return self.receiver.wait_for(count, path, seconds)

    def ended(self, schedule_id: str, state: str, seconds: float = PATIENCE, *, owner: str | None = None) -> Schedule:
        """The schedule, once it has this state."""
        patient = self.of(owner, Retrying())
        return until(lambda: patient.get(schedule_id), lambda one: one.state == state, seconds)

    def waiting_for(self, schedule_id: str, attempt: int, seconds: float = PATIENCE) -> Schedule:
        """The schedule, once it waits for this attempt."""
        patient = self.of(None, Retrying())
        return until(
            lambda: patient.get(schedule_id), lambda one: one.attempt == attempt and one.next_attempt_at, seconds
        )

    def history(
        self,
        schedule_id: str,
        last: str,
        seconds: float = PATIENCE,
        *,
        owner: str | None = None,
        beside: Collection[str] = (),
    ) -> list[HistoryEntry]:
        """The history, once the journal has come as far as this event, and has its beginning and those of `beside` too.

        Events of two ids (the accepted and the decided one) come to the journal in no order between them.
        """
        patient = self.of(owner, Retrying())
        wanted = {"scheduled", *beside}
        return until(
            lambda: patient.get(schedule_id).history or [],
            lambda found: bool(found) and found[-1].event == last and wanted <= {one.event for one in found},
            seconds,
        )

    def operate(self, command: str, **more: str) -> Any:
        """A command to operator-dead-letters."""
        return self.operator.function("operator-dead-letters")({"command": command, **more})

    def dead_letters(self, prefix: str, seconds: float = PATIENCE) -> list[dict[str, Any]]:
        """What is stored under a prefix, once there is something."""
        deadline = time.monotonic() + seconds
        while not (entries := self.operate("list", prefix=prefix)["deadLetters"]):
            assert time.monotonic() < deadline, f"nothing stored under {prefix}"
            time.sleep(0.1)
        return list(entries)


@define
class EngineClient(Client):
    """Of `delayer serve`."""

    @property
    def engine(self) -> RunningEngine:
        assert isinstance(self.served, RunningEngine)
        return self.served

    @property
    def operator(self) -> OperatorEngine:
        return OperatorEngine(self.engine.folder)

    @property
    def lead(self) -> Millis:
        return 50

    def commanded(self, name: str, *arguments: str) -> str:
        return done(own_command(name, *arguments, "--data", str(self.engine.folder)))


@define
class StackClient(Client):
    """Of a stack on the emulator."""

    @property
    def stack(self) -> RunningStack:
        assert isinstance(self.served, RunningStack)
        return self.served

    @property
    def operator(self) -> OperatorStack:
        return OperatorStack.find(self.api_url, folder=PROJECT)

    @property
    def lead(self) -> Millis:
        return SECOND // 2

    def commanded(self, name: str, *arguments: str) -> str:
        return done(command(self.stack, "delayer_client.cli", name, "--by-name", *arguments))

    def ledger_state(self, schedule_id: str, wanted: str, seconds: float = PATIENCE) -> dict[str, Any]:
        """The ledger row, once it has this state."""
        deadline = time.monotonic() + seconds
        while True:
            row = self.ledger_row(schedule_id)
            if row.get("state") == {"S": wanted}:
                return row
            assert time.monotonic() < deadline, f"{schedule_id} is {row.get('state')}, not {wanted}"
            time.sleep(0.05)

    def switch_journal(self, enabled: bool) -> None:
        """Lets lifecycle-journal read its queue, or not."""
        functions = self.stack.client("lambda")
        [mapping] = functions.list_event_source_mappings(FunctionName="delayer-lifecycle-journal")[
            "EventSourceMappings"
        ]
        functions.update_event_source_mapping(UUID=mapping["UUID"], Enabled=enabled)

    def ledger_row(self, schedule_id: str) -> dict[str, Any]:
        answer = self.stack.client("dynamodb").get_item(
            TableName=self.stack.outputs["LedgerTable"], Key={"scheduleId": {"S": schedule_id}}, ConsistentRead=True
        )
        row: dict[str, Any] = answer.get("Item", {})
        return row

    def rows(self) -> list[dict[str, Any]]:
        """What is in the schedules table."""
        answer = self.stack.client("dynamodb").scan(TableName=self.stack.outputs["SchedulesTable"])
        rows: list[dict[str, Any]] = answer["Items"]
        return rows


def sleep_until(instant: Millis) -> None:
    """The moments of a race are real ones."""
    time.sleep(max(instant - now(), 0) / 1000)


def lateness(request: ReceivedRequest, due: Millis) -> Millis:
    """Never early, and not as late as if something had waited for a timeout or for the next minute."""
    late = request.at_ms - due
    assert 0 <= late < LATE, f"{late} ms late"
    return late
