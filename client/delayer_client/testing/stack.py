"""All of Delayer in memory: its own code on SQLite and its own fakes, with what AWS does between the functions.

Of what AWS does here nothing fails, and nothing takes time: a stream is read and a message is received at the very
moment. So there is no minute task, whose work is to find what is due: what enters the delayer period leaves its table.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from attrs import define, evolve, field

from delayer.core.actions.action_type import ActionType
from delayer.core.actions.built_in import built_in
from delayer.core.actions.foreign import check
from delayer.core.actions.registration import Registration
from delayer.core.history.events import Event, LifecycleRecord, of_record, of_row
from delayer.core.schedule.bucket import RecordKey
from delayer.core.schedule.instants import DAY, SECOND, Millis, minute_of, start_of
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import key_of
from delayer.core.schedule.table_change import Kind, RecordChange
from delayer.core.series.upkeep.rounds import PARTS, Directory
from delayer.core.timing.deciding import Chosen
from delayer.core.timing.policy import policies, policy_of
from delayer.ports.clock import Clock
from delayer.ports.queue import ReceivedMessage
from delayer.ports.series_upkeep import SeriesKey
from delayer.repositories.feed import RELAXED, SCHEDULES, WAITING
from delayer.repositories.schedules.schedule_table import key_item
from delayer.wiring import use_cases
from delayer.wiring.in_memory import StackInMemory
from delayer_client.testing.agenda import Agenda, Deliveries
from delayer_client.testing.attempts import Answers
from delayer_client.testing.clock import HandClock
from delayer_client.testing.functions import HandlerObserver, loaded
from delayer_client.testing.targets import Targets

STEPS_SERIES: Final = frozenset({"occurrence", "relaxed-occurrence"})  # the filter of the queue of series-stepper
NO_STEP: Final = frozenset(f"delayer.schedule.{one}" for one in ("scheduled", "enqueued", "redriven"))
HTTP_TARGET: Final = "delayer.targets.http_request"
OTHER_STACK: Final = "arn:aws:cloudformation:eu-west-1:123456789012:stack/actions/1c2d"
RUNTIME: Final = "delayer.aws.runtime.environment"
SETTINGS: Final = {"API_AUTHORIZATION": "NONE", "ALLOW_PRIVATE_TARGETS": "true"}

Use = Callable[[Sequence[RecordChange]], Sequence[str]]


class Observer(HandlerObserver):
    """Keeps what is wrong, and nothing else: a fake may run for long."""

    def note(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """Not kept."""

    def warn(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """As the port."""
        self.lines.append((event, schedule_id, facts))

    def measure_lateness(self, lateness: Millis, metric: str = "Lateness") -> None:
        """Not kept."""


@define(kw_only=True)
class Stream:
    """Of one table: how far it was read, and by which function."""

    records: Sequence[RecordChange]  # all there ever were
    lane: str
    use: Use
    seen: Callable[[Schedule], None]  # what was put into the table
    read: int = 0

    def unread(self) -> Sequence[RecordChange]:
        """Since the last time."""
        changes, self.read = self.records[self.read :], len(self.records)
        return changes


@define(kw_only=True, slots=False)
class FakeStack(StackInMemory):
    """Who moves its clock says `settle` after that, and after each call."""

    start: Millis
    answers: Answers
    shards: int = 1
    agenda: Agenda = field(init=False, factory=Agenda)
    _functions: dict[str, Any] = field(init=False, factory=dict)
    _rows_read: int = field(init=False, default=0)
    _looks_for_waiting: bool = field(init=False, default=False)

    def __attrs_post_init__(self) -> None:
        self.clock = HandClock(self.start)
        self.observer = Observer()
        self.prepare()
        self.settings = evolve(self.settings, lead=0, event_source="urn:delayer:fake")
        self.targets = Targets(clock=self.clock, ask_test=self.answers)
        self.build()

    # ------------------------------------------------------------ what it is made of

    def make_queues(self) -> None:
        """They deliver by themselves."""
        self.delayer_queue = self._queue("delayer")  # type: ignore[assignment] # another fake of the same port
        self.sweep_queue = self._queue("sweep")  # type: ignore[assignment]
        self.group_queue = self._queue("group")  # type: ignore[assignment]
        self.http_queue = self._queue("executors")  # type: ignore[assignment]
        self.policy_queue = self._queue("policies")  # type: ignore[assignment]
        self.series_queue = self._queue("series")
        self.queues_of_actions = dict.fromkeys(built_in(), self.http_queue)

    def _queue(self, name: str) -> Deliveries:
        return Deliveries(name=name, clock=self.hand_clock, agenda=self.agenda)

    @property
    def hand_clock(self) -> HandClock:
        """Its own, by its own class."""
        assert isinstance(self.clock, HandClock)
        return self.clock

    def queues_for(self, function: str) -> Mapping[str, Any]:  # noqa: ARG002
        """All executors share one."""
        return self.queues_of_actions

    def policy_queues_for(self, function: str) -> Mapping[str, Any]:  # noqa: ARG002
        """All policies share one."""
        return dict.fromkeys(policies(), self.policy_queue)

    def new_id(self) -> str:
        """Of a job or a series."""
        return self.some_bytes(16).hex()

    def clock_for(self, function: str) -> Clock:  # noqa: ARG002
        """Nobody's time differs."""
        return self.clock

    def build(self) -> None:
        """The functions behind the API. Those of the API are made when they are called first."""
        self._serve(self.delayer_queue, use_cases.relay(self.ports("delayer-relay")))
        self._serve(self.http_queue, use_cases.execute(self.ports("executor"), self.targets))
        self._serve(self.group_queue, use_cases.cancel_group(self.ports("job-group-canceller")))
        self._serve(self.policy_queue, use_cases.decide(self.ports("policy"), self._choose))
        self._serve(self.series_queue, use_cases.react_to_events(self.ports("series-stepper")))
        executor = self.function("executor-http-request").handler
        executor.ports = self.ports("executor-http-request")
        self.targets.http = executor.target
        self.renew = use_cases.series_tick(self.ports("task-1minute-series")).renew
        self.announce = use_cases.announce(self.ports("stream-lifecycle"))
        self.write_journal = use_cases.write_journal(self.ports("lifecycle-journal"))
        self.streams = (
            Stream(
                records=self.feed.records[SCHEDULES],
                lane="",
                use=use_cases.enqueue(self.ports("stream-enqueuer")),
                seen=self._plan_leaving,
            ),
            Stream(
                records=self.feed.records[RELAXED],
                lane="relaxed-",
                use=use_cases.claim_relaxed(self.ports("relaxed-claimer")),
                seen=self._plan_expiry,
            ),
            Stream(
                records=self.feed.records[WAITING],
                lane="waiting-",
                use=use_cases.enqueue_timing(self.ports("timing-enqueuer")),
                seen=lambda _: None,
            ),
        )

    def register(self, kind: str, schema: Mapping[str, Any]) -> None:
        """An action type of another stack, by the JSON Schema of its fields. Raises Unsafe, as its deployment fails."""
        fields = {"type": {"const": kind}, **schema.get("properties", {})}
        required = [*dict.fromkeys(("type", *schema.get("required", ())))]
        whole = {"type": "object", "additionalProperties": False, **schema, "required": required, "properties": fields}
        action = ActionType(type=kind, schema=json.dumps(whole))
        check(action)
        self.action_rows.write(kind, (Registration(action=action, stack=OTHER_STACK, token=kind),), ())
        self.queues_of_actions[kind] = self.http_queue

    def _serve(self, queue: Any, handle: Callable[[Sequence[ReceivedMessage]], Sequence[str]]) -> None:
        queue.handle = handle

    def function(self, name: str) -> Any:
        """The module of a function, as it is deployed, with its targets in the place of the network."""
        if name not in self._functions:
            instead: dict[str, Mapping[str, object]] = {
                HTTP_TARGET: {"HttpTarget": lambda **_: self.targets},
                RUNTIME: {"setting": SETTINGS.__getitem__},
            }
            self._functions[name] = loaded(name, self, SETTINGS, instead)
        return self._functions[name]

    def _choose(self, schedule: Schedule) -> Chosen:
        """What its policy says."""
        decider = self.function(f"policy-{policy_of(schedule.definition)}").handler.target
        chosen: Chosen = evolve(decider, clock=lambda: self.clock)(schedule)
        return chosen

    # ------------------------------------------------------------ what happens by itself

    def settle(self) -> None:
        """Lets everything happen that happens at this moment."""
        while self._read_streams() or self._did_one():
            pass
        self._plan_waking()

    def run_until(self, instant: Millis) -> None:
        """From one thing that happens to the next, up to an instant."""
        self.settle()
        while (following := self.agenda.next()) is not None and following <= instant:
            self.hand_clock.jump(following)
            self.settle()
        self.hand_clock.jump(instant)

    def _did_one(self) -> bool:
        do = self.agenda.take(self.clock.now())
        if do:
            do()
        return do is not None

    def _read_streams(self) -> bool:
        """Whether there was anything in them."""
        events: list[Event | None] = []
        busy = False
        for stream in self.streams:
            if changes := stream.unread():
                busy = True
                events += [self._event_of(stream.lane, change) for change in changes]
                self._use(stream, changes)
        first, self._rows_read = self._rows_read, len(self.feed.rows)
        rows = self.feed.ledger_since(first)
        events += [of_row(old, new, f"row-{first + number}") for number, (old, new) in enumerate(rows)]
        self._tell([event for event in events if event])
        return busy or bool(rows)

    def _use(self, stream: Stream, changes: Sequence[RecordChange]) -> None:
        for change in changes:
            if change.kind is Kind.INSERT and isinstance(change.row, Schedule):
                stream.seen(change.row)
        if failed := stream.use(changes):
            raise AssertionError(f"a defect of FakeDelayer: {failed} of a stream failed, {self.observer.lines[-3:]}")

    def _event_of(self, lane: str, change: RecordChange) -> Event | None:
        """As stream-lifecycle reads it."""
        if not isinstance(change.row, Schedule):
            return None
        at = self.clock.now() // SECOND * SECOND
        return of_record(change.kind, change.row, f"{lane}{change.sequence}", at, expired=change.expired)

    def _tell(self, events: Sequence[Event]) -> None:
        """To the journal, and to the series."""
        if not events:
            return
        self.announce([LifecycleRecord(sequence=event.id, event=event) for event in events])
        announced = [(one.text, dict(one.attributes)) for one in self.topic.published]
        self.topic.published.clear()
        self.write_journal([_message(text) for text, about in announced if "retold" not in about])
        for text, about in announced:
            if about.get("kind") in STEPS_SERIES and about["type"] not in NO_STEP:
                self._looks_for_waiting = True
                self.agenda.put(self.clock.now(), partial(self.series_queue.deliver, _message(text)))

    # ------------------------------------------------------------ what happens later

    def _plan_leaving(self, schedule: Schedule) -> None:
        """When it enters the delayer period, its record leaves the table."""
        enters = start_of(minute_of(schedule.address.due)) - self.settings.period
        if enters > self.clock.now():
            self.agenda.put(enters, partial(self._leave, key_of(schedule.id)))

    def _leave(self, key: RecordKey) -> None:
        self.table.delete([key])

    def _plan_expiry(self, schedule: Schedule) -> None:
        """DynamoDB's TTL does it within minutes, or days; here it does so at once."""
        self.agenda.put(schedule.expires_at, partial(self._expire, key_of(schedule.id)))

    def _expire(self, key: RecordKey) -> None:
        self.items.expire_one(RELAXED, key_item(key))

    def look_for_waiting(self) -> None:
        """A series may have come to wait for a time that is years ahead."""
        self._looks_for_waiting = True

    def _plan_waking(self) -> None:
        if self._looks_for_waiting:
            self._looks_for_waiting = False
            if self._waiting():
                self.agenda.put(self.clock.now() + DAY, self._wake)

    def _wake(self) -> None:
        for key in self._waiting():
            self.renew.wake(key)
        self._looks_for_waiting = True

    def _waiting(self) -> list[SeriesKey]:
        return [key for part in range(PARTS[Directory.WAITING]) for key in self._listed(part)]

    def _listed(self, part: int) -> Iterator[SeriesKey]:
        page = self.series_upkeep.listed(Directory.WAITING, part)
        yield from page.keys
        while page.more:
            page = self.series_upkeep.listed(Directory.WAITING, part, page.more)
            yield from page.keys


def _message(text: str) -> ReceivedMessage:
    return ReceivedMessage(message_id="event", body=text)
