"""A stack that can break each promise: its API, its queue and its account in memory."""

from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import count
from typing import Any

from attrs import define, field

from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis, format_instant, parse_instant
from delayer_client.operator.verify.account import CanaryAlarm
from delayer_client.operator.verify.api import Answer, now
from delayer_client.operator.verify.inbox import Arrival
from delayer_client.operator.verify.options import Options
from delayer_client.operator.verify.session import Session


@define(kw_only=True)
class FakeQueue:
    """boto3's client of SQS, as far as an inbox uses it. Messages are put in by hand."""

    waiting: list[dict[str, Any]] = field(factory=list)
    deleted: list[str] = field(factory=list)
    made: list[str] = field(factory=list)
    removed: list[str] = field(factory=list)

    def create_queue(self, QueueName: str, Attributes: Mapping[str, str]) -> dict[str, str]:  # noqa: N803
        self.made.append(QueueName)
        return {"QueueUrl": f"http://sqs/1/{QueueName}"}

    def receive_message(self, **_: object) -> dict[str, Any]:
        messages, self.waiting = self.waiting[:10], self.waiting[10:]
        return {"Messages": messages} if messages else {}

    def delete_message(self, QueueUrl: str, ReceiptHandle: str) -> None:  # noqa: N803
        self.deleted.append(ReceiptHandle)

    def delete_queue(self, QueueUrl: str) -> None:  # noqa: N803
        self.removed.append(QueueUrl)


def message(schedule_id: str, at: Millis, message_id: str = "") -> dict[str, Any]:
    """As SQS delivers it."""
    return {
        "MessageId": message_id or f"{schedule_id}@{at}",
        "ReceiptHandle": f"handle of {schedule_id}",
        "Attributes": {"SentTimestamp": str(at)},
        "MessageAttributes": {"Delayer-Schedule-Id": {"StringValue": schedule_id, "DataType": "String"}},
    }


@define(kw_only=True)
class FakeInbox:
    """The inbox of a run, filled by the fake API."""

    name: str = "delayer-target-verify-1"
    url: str = "http://sqs/1/delayer-target-verify-1"
    requests: int = 0
    sqs: FakeQueue = field(factory=FakeQueue)
    found: list[Arrival] = field(factory=list)
    is_open: bool = False

    def open(self) -> None:
        self.is_open = True

    def close(self) -> None:
        self.is_open = False

    def action(self) -> dict[str, Any]:
        return {"type": "sqs-send", "queueUrl": self.url}

    def arrivals(self) -> dict[str, list[Millis]]:
        ids = {arrival.schedule_id for arrival in self.found}
        return {one: sorted(arrival.at for arrival in self.found if arrival.schedule_id == one) for one in ids}

    def wait_for(self, schedule_ids: Any, seconds: float) -> set[str]:
        return set(schedule_ids) - self.arrivals().keys()


@define(kw_only=True)
class FakeStack:
    """API, operator and canary in one. What it fires arrives at once, `late` after the point in time."""

    inbox: Any = field(factory=FakeInbox)
    late: tuple[Millis, ...] = (5,)  # of each arrival of a schedule; none: it is lost
    cancel: tuple[int, ...] = (200, 409)  # answered by turns
    fires_cancelled: bool = False
    loses_claimed: bool = False
    state: str = "failed"  # that GET shows of what does not arrive
    attempt: int = 1
    stores: bool = True  # the bodies of what fails
    outcome: str = "redriven"
    calls: list[str] = field(factory=list)
    states: dict[str, str] = field(factory=dict)
    answered: int = 0
    other_calls: int = 7
    clock: float = 0
    parameters: dict[str, str] = field(factory=dict)
    alarms: tuple[CanaryAlarm, ...] = ()
    subscribers: int = 1
    steps: bool = True  # its series
    series_status: int = 201  # that POST of a series is answered with
    series: dict[str, Any] = field(factory=dict)  # what GET shows of the one that there is
    letters: list[str] = field(factory=list)
    discarded: list[str] = field(factory=list)
    lane: str = "relaxed"  # that GET shows of what was asked for in it
    concurrency: int = 1_000  # of the account
    region: str = "eu-west-1"
    publishes: int = 0  # what Service Quotas says; 0: nothing
    provisioned: dict[str, int] | None = field(factory=dict)
    ttl: str = "ENABLED expiresAt"
    lanes: dict[str, str] = field(factory=dict)
    when_status: int = 201  # that POST is answered with if a policy is to decide the time
    decided: dict[str, Any] = field(factory=dict)  # what GET shows of it, beyond the time of its business hours
    shown: dict[str, Any] = field(factory=dict)
    secret_status: int = 200
    secrets: tuple[Any, ...] = ("whsec_" + "A" * 43 + "=",)  # that are answered by turns
    secrets_asked: int = 0

    # ------------------------------------------------------------ the API

    def post(self, path: str, content: dict[str, Any], key: str = "") -> Answer:
        self.calls.append(f"POST {path}")
        if path == "/series":
            self.series = {"seriesId": "a", "occurrence": self._occurrence(content, 1)} | content
            return Answer(status=self.series_status, content=self.series)
        if path.endswith("/batch"):
            results = [{"status": 201, "schedule": self._create(body)} for body in content["schedules"]]
            return Answer(status=200, content={"results": results})
        if "when" in content:
            return self._undecided(content["when"])
        return Answer(status=201, content=self._create(content))

    def _undecided(self, when: dict[str, Any]) -> Answer:
        """It is decided at once, for noon of the next of these days."""
        [day] = when["hours"]
        days = (one * DAY + 12 * HOUR for one in count(now() // DAY + 1))
        due = next(one for one in days if datetime.fromtimestamp(one / SECOND, UTC).strftime("%a").upper() == day)
        self.states |= {"u": "scheduled", "d": "scheduled"}
        self.shown = {"pointInTime": format_instant(due), "decidedAs": "d"} | self.decided
        return Answer(status=self.when_status, content={"scheduleId": "u"})

    def _create(self, body: dict[str, Any]) -> dict[str, Any]:
        schedule_id = f"s{len(self.states)}"
        is_inbox = body["action"].get("queueUrl") == self.inbox.url
        self.states[schedule_id] = "executed" if is_inbox else self.state
        if body.get("precision") == "relaxed":
            self.lanes[schedule_id] = self.lane
            self.states[schedule_id] = "scheduled"
        elif is_inbox:
            self._fire(schedule_id, parse_instant(body["pointInTime"]))
        elif self.state == "failed" and self.stores:
            self.letters.append(schedule_id)
        return {"scheduleId": schedule_id}

    def _occurrence(self, series: dict[str, Any], number: int) -> dict[str, Any]:
        """What is due is in the inbox at once."""
        due = parse_instant(series["repeat"]["from"]) + (number - 1) * MINUTE
        schedule_id = f"o{number}"
        self.states[schedule_id] = "cancelled" if number == 3 else "executed"
        if number < 3 or self.fires_cancelled:
            self._fire(schedule_id, due)
        return {"scheduleId": schedule_id, "number": number, "pointInTime": format_instant(due)}

    def _fire(self, schedule_id: str, due: Millis) -> None:
        self.inbox.found += [Arrival(schedule_id=schedule_id, at=due + late) for late in self.late]

    def _take_back(self, schedule_id: str) -> None:
        self.inbox.found = [one for one in self.inbox.found if one.schedule_id != schedule_id]

    def delete(self, path: str) -> Answer:
        self.calls.append(f"DELETE {path}")
        if path.startswith("/series/"):
            return Answer(status=self.cancel[0], content={})
        schedule_id = path.rpartition("/")[2]
        status = self.cancel[self.answered % len(self.cancel)]
        self.answered += 1
        if status == 200:
            self.states[schedule_id] = "cancelled"
            self.states |= {"d": "cancelled"} if schedule_id == "u" else {}
        if (status == 200 and not self.fires_cancelled) or (status == 409 and self.loses_claimed):
            self._take_back(schedule_id)
        return Answer(status=status, content={})

    def get(self, path: str) -> Answer:
        if path == "/signing-secret":
            secret = self.secrets[self.secrets_asked % len(self.secrets)]
            self.secrets_asked += 1
            return Answer(status=self.secret_status, content={"current": secret, "previous": None})
        if path.startswith("/series/"):
            if self.steps:
                self.series["occurrence"] = self._occurrence(self.series, self.series["occurrence"]["number"] + 1)
            return Answer(status=200, content=self.series)
        schedule_id = path.rpartition("/")[2]
        content = {"state": self.states[schedule_id], "attempt": self.attempt, "detail": "no"}
        if schedule_id == "u":
            content |= {**self.shown, **({"state": "cancelled"} if content["state"] == "cancelled" else {})}
        if schedule_id in self.lanes:
            content["precision"] = self.lanes[schedule_id]
        return Answer(status=200, content=content)

    def clock_difference(self) -> float:
        return self.clock

    # ------------------------------------------------------------ the account

    def setting(self, name: str, default: str) -> str:
        return {"Policies": "next-business-hour,spread", "Lanes": "relaxed", **self.parameters}.get(name, default)

    def client(self, service: str) -> object:
        return FakeQueue()

    def operate(self, command: Mapping[str, str]) -> dict[str, Any]:
        if command["command"] == "list":
            schedule_id = command["prefix"].split("/")[1]
            return {"deadLetters": [{"key": f"failed/{schedule_id}/x"}] if schedule_id in self.letters else []}
        schedule_id = command["key"].split("/")[1]
        if command["command"] == "discard":
            self.discarded.append(schedule_id)
            return {}
        if self.outcome == "redriven":
            self.states[schedule_id] = "executed"
            self._fire(schedule_id, now())
        return {"schedules": [{"outcome": self.outcome}]}

    def concurrent_executions(self) -> int:
        return self.concurrency

    def publishes_a_second(self) -> int:
        return self.publishes

    def provisioned_pollers(self) -> dict[str, int] | None:
        return self.provisioned

    def ttl_of(self, output: str) -> str:
        assert output == "RelaxedTable"
        return self.ttl

    def canary_alarms(self) -> list[CanaryAlarm]:
        return list(self.alarms)

    def confirmed_subscribers(self, topic: str) -> int:
        return self.subscribers


def the_late_queue(stack: FakeStack) -> Any:
    """The second queue of a run; what it receives is counted with the rest."""
    return FakeInbox(name="late", url="http://sqs/1/late", found=stack.inbox.found)


def a_session(stack: Any, with_account: bool = True, **options: Any) -> Session:
    """A run against a fake stack."""
    session = Session(
        options=Options(**{"url": "http://localhost", **options}), api=stack, account=stack if with_account else None
    )
    session.inbox = stack.inbox
    return session
