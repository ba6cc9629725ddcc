"""All of Delayer in memory: its own code on SQLite and its own fakes, with what AWS does between the functions.

Of what AWS does here nothing fails, and nothing takes time: a stream is read and a message is received at the very
moment. So nothing runs each minute, whose work would be to find what is due: what enters the delayer period leaves its
table then.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import define, evolve, field

from delayer.accept.rules.window import policies, policy_of
from delayer.actions.rules.foreign import built_in, check
from delayer.actions.rules.model import ActionType
from delayer.actions.rules.registration import Registration
from delayer.engines.memory import MemoryObserver
from delayer.engines.ports import Clock, ReceivedMessage
from delayer.records.repository import key_item
from delayer.schedule.instants import DAY, MINUTE, Millis, minute_of, start_of
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import key_of
from delayer.schedule.table_change import ChangeKind
from delayer.schedule.tables import RELAXED
from delayer.series.ports import SeriesKey
from delayer.series.rules.series import PARTS, Directory
from delayer.series.use_cases.tick import Renew
from delayer.timing.rules import Chosen
from delayer.wiring.build import build
from delayer.wiring.functions import loaded
from delayer.wiring.manifest import MANIFEST, FromQueue, reaction_of
from delayer.wiring.pump import Batch, Pump, QueueSource
from delayer_client.testing.attempts import Answers
from delayer_client.testing.clock import HandClock, NotYet
from delayer_client.testing.targets import Targets
from tests.fakes.messaging import MemoryQueue, SubscribedTopic
from tests.fakes.stack import StackInMemory

HTTP_TARGET: Final = "delayer.targets.http_request"
OTHER_STACK: Final = "arn:aws:cloudformation:eu-west-1:123456789012:stack/actions/1c2d"
HAVE_SETTINGS: Final = ("delayer.engines.process", "delayer.extension.executor")  # where a function has them from
SETTINGS: Final = {"API_AUTHORIZATION": "NONE", "ALLOW_PRIVATE_TARGETS": "true"}

EXECUTOR: Final = "executor-*"  # there is one executor here, and one policy
POLICY: Final = "policy-*"
ENQUEUER: Final = "stream-enqueuer"
CLAIMER: Final = "relaxed-claimer"
STEPPER: Final = "series-stepper"
PLAYED: Final = (
    *(ENQUEUER, CLAIMER, "timing-enqueuer", "stream-lifecycle", "stream-occurrences"),
    *("delayer-relay", EXECUTOR, POLICY, "job-group-canceller", STEPPER, "lifecycle-journal"),
)
WAIT_ALONE: Final = frozenset({"delayer-relay", EXECUTOR})  # so that nobody waits with what they wait for
AGAIN_AFTER: Final = MINUTE  # what its function has failed at
# What functions do each minute, or DynamoDB some time later, is done here when it is due: it waits in a queue.
LEAVES: Final = "task-1minute-enqueuer"
WAKES: Final = "task-1minute-series"
EXPIRES: Final = "DynamoDB"


class Observer(MemoryObserver):
    """Keeps what is wrong, and nothing else: a fake may run for long."""

    def note(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """Not kept."""

    def warn(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """As the port."""
        self.lines.append((event, schedule_id, facts))

    def measure_lateness(self, lateness: Millis, metric: str = "Lateness") -> None:
        """Not kept."""


@define(kw_only=True, slots=False)
class FakeStack(StackInMemory):
    """A caller that moves its clock calls `settle` after that, and after each call."""

    start: Millis
    answers: Answers
    shards: int = 1
    _functions: dict[str, Any] = field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        self.clock = HandClock(self.start)
        self.observer = Observer()
        self.prepare()
        self.settings = evolve(self.settings, lead=0, event_source="urn:delayer:fake")
        self.targets = Targets(clock=self.clock, ask_test=self.answers)
        self.build()

    # ------------------------------------------------------------ what it is made of

    def make_queues(self) -> None:
        """And what is to happen later."""
        super().make_queues()
        subscribed = [(self.queues[one.queue.name], one.queue.gets) for one in MANIFEST if one.queue]
        self.topic = SubscribedTopic(queues=[(queue, gets) for queue, gets in subscribed if gets])
        self.later = {name: MemoryQueue(clock=self.clock, name=name) for name in (LEAVES, EXPIRES, WAKES)}
        self.queues_of_actions = dict.fromkeys(built_in(), self.http_queue)

    def new_queue(self, queue: FromQueue) -> MemoryQueue:
        """Nobody waits for long."""
        return evolve(super().new_queue(queue), visibility=AGAIN_AFTER)

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

    def new_job_id(self) -> str:
        """Of a job or a series."""
        return self.randomness(16).hex()

    def clock_for(self, function: str) -> Clock:  # noqa: ARG002
        """Nobody's time differs."""
        return self.clock

    def build(self) -> None:
        """The functions behind the API. Those of the API are made when they are called first."""
        given: dict[str, dict[str, Any]] = {EXECUTOR: {"target": self.targets}, POLICY: {"choose": self._choose}}
        self.uses: dict[str, Callable[[Any], object]] = {
            name: reaction_of(name).made(self.ports(name.removesuffix("-*")), **given.get(name, {})) for name in PLAYED
        }
        self.uses |= {LEAVES: self._leave, EXPIRES: self._expire, WAKES: self._wake}
        executor = self.function("executor-http-request").handler
        executor.ports = self.ports("executor-http-request")
        self.targets.http = executor.target
        self.renew = build(Renew, self.ports(WAKES))
        sources = self.sources(PLAYED)
        for one in sources:
            if isinstance(one, QueueSource) and one.function in WAIT_ALONE:
                one.alone = True
        later = [QueueSource(function=name, queue=queue) for name, queue in self.later.items()]
        self.pump = Pump(sources=[*later, *sources], run=self._run, wait_until=self.hand_clock.jump)

    def register(self, kind: str, schema: Mapping[str, Any]) -> None:
        """An action type of another stack, by the JSON Schema of its fields. Raises Unsafe, as its deployment fails."""
        fields = {"type": {"const": kind}, **schema.get("properties", {})}
        required = [*dict.fromkeys(("type", *schema.get("required", ())))]
        whole = {"type": "object", "additionalProperties": False, **schema, "required": required, "properties": fields}
        action = ActionType(type=kind, schema=json.dumps(whole))
        check(action)
        self.action_rows.write(kind, (Registration(action=action, stack=OTHER_STACK, token=kind),), ())
        self.queues_of_actions[kind] = self.http_queue

    def function(self, name: str) -> Any:
        """The module of a function, as it is deployed, with its targets in the place of the network."""
        if name not in self._functions:
            instead: dict[str, Mapping[str, object]] = {
                HTTP_TARGET: {"HttpTarget": lambda **_: self.targets},
                **{one: {"setting": SETTINGS.__getitem__} for one in HAVE_SETTINGS},
            }
            self._functions[name] = loaded(name, self, SETTINGS, instead)
        return self._functions[name]

    def _choose(self, schedule: Schedule) -> Chosen:
        """Asks its policy."""
        decider = self.function(f"policy-{policy_of(schedule.definition)}").handler.target
        chosen: Chosen = evolve(decider, clock=lambda: self.clock)(schedule)
        return chosen

    # ------------------------------------------------------------ what happens by itself

    def settle(self) -> None:
        """Lets everything happen that happens at this moment."""
        self.pump.settle()

    def run_until(self, instant: Millis) -> None:
        """From one thing that happens to the next, up to an instant."""
        self.pump.run_until(instant)

    def _run(self, batch: Batch) -> None:
        """One function. What would wait gives way to all that happens before; what a test raises goes up to it."""
        self._plan(batch)
        try:
            failed = self.uses[batch.function](batch.items)
        except NotYet as early:
            assert isinstance(batch.source, QueueSource)
            batch.source.queue.put_off(batch.items, early.until)
            return
        if failed and not isinstance(batch.source, QueueSource):
            raise AssertionError(f"a defect of FakeDelayer: {failed} of a stream failed, {self.observer.lines[-3:]}")
        batch.settle(failed if isinstance(failed, list) else [])
        if batch.function in (STEPPER, WAKES):
            self.look_for_waiting()

    # ------------------------------------------------------------ what happens later

    def _plan(self, batch: Batch) -> None:
        """Plans what follows, some time later, from what a function is given."""
        plan = {ENQUEUER: self._plan_leaving, CLAIMER: self._plan_expiry}.get(batch.function)
        for change in batch.items if plan else ():
            if plan and change.kind is ChangeKind.INSERT and isinstance(change.row, Schedule):
                plan(change.row)

    def _plan_leaving(self, schedule: Schedule) -> None:
        """When it enters the delayer period, its record leaves the table."""
        enters = start_of(minute_of(schedule.address.due)) - self.settings.period
        if enters > self.clock.now():
            self.later[LEAVES].add(schedule.id, enters)

    def _leave(self, batch: Sequence[ReceivedMessage]) -> None:
        self.table.delete([key_of(one.body) for one in batch])

    def _plan_expiry(self, schedule: Schedule) -> None:
        """DynamoDB's TTL does it within minutes, or days; here it does so at once."""
        self.later[EXPIRES].add(schedule.id, schedule.expires_at)

    def _expire(self, batch: Sequence[ReceivedMessage]) -> None:
        for one in batch:
            self.items.expire_one(RELAXED, key_item(key_of(one.body)))

    def look_for_waiting(self) -> None:
        """A series may have come to wait for a time that is years ahead. All are looked at a day later."""
        if not self.later[WAKES].messages and self._waiting():
            self.later[WAKES].add("", self.clock.now() + DAY)

    def _wake(self, _batch: Sequence[ReceivedMessage]) -> None:
        for key in self._waiting():
            self.renew.wake(key)

    def _waiting(self) -> list[SeriesKey]:
        return [key for part in range(PARTS[Directory.WAITING]) for key in self._listed(part)]

    def _listed(self, part: int) -> Iterator[SeriesKey]:
        page = self.series_upkeep.listed(Directory.WAITING, part)
        yield from page.keys
        while page.more:
            page = self.series_upkeep.listed(Directory.WAITING, part, page.more)
            yield from page.keys
