"""What AWS does between the functions: delivers, delivers again, out of order, late; ticks; expires."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from attrs import define, field

from delayer.engines.ports import Outgoing, ReceivedMessage
from delayer.history.cloud_events import encode
from delayer.history.model import LifecycleEvent
from delayer.ledger.repository import KEY
from delayer.records.repository import key_item
from delayer.schedule.instants import HOUR, MINUTE, SECOND, Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import IdKind, key_of, kind_of
from delayer.schedule.tables import LEDGER, RELAXED, SCHEDULES
from delayer.series.rules.stepping import AT_THE_CLAIM
from delayer.wiring.pump import Batch, QueueSource
from tests.fakes.messaging import MemoryQueue
from tests.fakes.sources import StreamSource
from tests.simulation.engine.remote import NotStarted, Service
from tests.simulation.system.bodies import body_of

if TYPE_CHECKING:
    from tests.simulation.system.stack import Stack

IDLE = 15  # with an empty table only each of so many ticks is played: it has nothing to do
CONCURRENT = 5  # invocations for one queue at a time
CONCURRENT_IN_A_RUSH = 30
REPEATED = 4  # deliveries of a message that may come twice; through an outage of hours they would only multiply
LONG = (SECOND, 20 * SECOND, 3 * MINUTE, 2 * HOUR)  # how long a late delivery takes at most


@define(eq=False)
class Aws:
    """The event source mappings, the minute task, and TTL."""

    stack: "Stack"
    ticking: bool = True
    looking_after_series: bool = True
    concurrent: int = CONCURRENT
    _reading: set[tuple[str, int]] = field(factory=set)  # shards with an invocation under way, or that wait after one
    _failures: dict[tuple[str, int], int] = field(factory=dict)  # of a shard, in a row
    _busy: dict[str, int] = field(factory=dict)  # invocations per queue
    _under_way: Counter[str] = field(factory=Counter)  # bodies of the messages in them
    _waiting: set[str] = field(factory=set)  # queues that are polled again in a while
    _woken: bool = False
    _minutes: int = 0

    # ------------------------------------------------------------ the stream

    def wake_stream(self) -> None:
        """A record was written: it is delivered in a moment."""
        if not self._woken:
            self._woken = True
            self._later("stream", 5, 40, self._read_all)

    def _read_all(self) -> None:
        self._woken = False
        for source in self._streams:
            for shard in source.stream.busy():
                self._read(source, shard)

    @cached_property
    def _streams(self) -> Sequence[StreamSource]:
        return [one for one in self.stack.pump.sources if isinstance(one, StreamSource)]

    def _read(self, source: StreamSource, shard: int) -> None:
        """One invocation at a time for each shard: that is what keeps the order."""
        place = (source.function, shard)
        if place in self._reading or not (batch := source.of_shard(shard)):
            return
        self._reading.add(place)
        about = [change.row.id for change in batch.items if isinstance(change.row, Schedule)]
        function, use = self.stack.consumer(source.function)
        self.stack.start(
            function, lambda: use(batch.items), lambda answer: self._settle(source, batch, answer, about), about
        )

    def _settle(self, source: StreamSource, batch: Batch, answer: Any, about: Sequence[str]) -> None:
        place = (source.function, batch.shard)
        failed = None if isinstance(answer, BaseException) else answer
        if failed is None:
            self.stack.new_environment()
        if failed == [] and self.stack.chance.surprise("stream batch repeated", self.stack.weather.repeats):
            self.stack.log("AWS", "delivers the batch of the stream again")
            self.stack.new_environment()
            failed = None
        if failed is None and source.function == "relaxed-claimer":
            self.stack.watch.excuses.update(about)
        self._failures[place] = 0 if failed == [] else self._failures.get(place, 0) + 1
        batch.settle(failed)
        if failed is not None:  # else all of it is still there
            self.stack.watch.is_checked = False
        self.stack.watch.check_copies()
        now = self.stack.kernel.now
        if not (failures := self._failures[place]):
            self._reading.discard(place)
            self.stack.kernel.at(now + 1, lambda: self._read(source, batch.shard))
            return

        def read_again() -> None:  # a new record does not make it sooner
            self._reading.discard(place)
            self._read(source, batch.shard)

        self.stack.kernel.at(now + min(SECOND * 2 ** min(failures, 10), MINUTE), read_again)

    # ------------------------------------------------------------ the queues

    def wake_queue(self, queue: MemoryQueue, visible_at: Millis) -> None:
        """A message can be received from then on."""
        self._later(f"{queue.name} queue", 3, 25, lambda: self._poll(queue), since=visible_at)

    def _poll(self, queue: MemoryQueue) -> None:
        if self._busy.get(queue.name, 0) >= self.concurrent or self.stack.network.is_down(Service.SQS):
            self._poll_again(queue)
            return
        source = self._queues[queue.name]
        taken = source.take()
        self.stack.watch.check_copies()
        if not taken:
            return
        batch = taken.items
        self._busy[queue.name] = self._busy.get(queue.name, 0) + 1
        again = self.stack.kernel.now + queue.visibility
        self._later(f"{queue.name} queue", 3, 25, lambda: self._poll(queue), since=again)
        if queue.visible():
            self._later(f"{queue.name} queue", 1, 5, lambda: self._poll(queue))
        is_event = queue in self.stack.other_queues()  # what comes twice of them excuses nothing
        about = [schedule_id for one in batch if (schedule_id := body_of(one.body).id) and not is_event]
        if self._is_throttled(queue, batch):
            self._busy[queue.name] -= 1
            return
        self._maybe_twice(queue, batch, about)
        self._maybe_given_out(queue, batch)
        bodies = [one.body for one in batch]  # two messages may have the same
        self.stack.watch.died.update(body for body in bodies if self._under_way[body] > 0)  # its note is there
        self._under_way.update(bodies)
        function, use = self.stack.consumer(source.function)
        self.stack.start(function, lambda: use(batch), lambda answer: self._delete(queue, taken, answer, about), about)

    def _is_throttled(self, queue: MemoryQueue, batch: Sequence[ReceivedMessage]) -> bool:
        """Lambda tries to find room until the messages are visible again, and no function has seen them."""
        if not self.stack.is_full() and not self.stack.chance.surprise(
            f"{queue.name} throttled", self.stack.weather.throttled
        ):
            return False
        self.stack.log("AWS", f"throttles {self._named(batch)} from the {queue.name} queue")
        return True

    def _poll_again(self, queue: MemoryQueue) -> None:
        """In a while; once is enough, however many messages wait."""
        if queue.name not in self._waiting:
            self._waiting.add(queue.name)

            def poll() -> None:
                self._waiting.discard(queue.name)
                self._poll(queue)

            self.stack.kernel.at(self.stack.kernel.now + 5 * SECOND, poll)

    @cached_property
    def _queues(self) -> Mapping[str, QueueSource]:
        """By the name of the queue in a story."""
        return {one.queue.name: one for one in self.stack.pump.sources if isinstance(one, QueueSource)}

    def _maybe_twice(self, queue: MemoryQueue, batch: Sequence[ReceivedMessage], about: Sequence[str]) -> None:
        """At least once: the same messages again, while the first delivery is under way."""
        if queue.receives_of(batch[0].message_id) > REPEATED or not self.stack.chance.surprise(
            f"{queue.name} delivered twice", self.stack.weather.repeats
        ):
            return
        self.stack.log("AWS", f"delivers {self._named(batch)} twice from the {queue.name} queue")
        self.stack.watch.excuses.update(about)
        ids = [one.message_id for one in batch]

        def again() -> None:
            queue.reveal(ids)
            self._poll(queue)

        self._later(f"{queue.name} second delivery", 1, 40, again)

    def _maybe_given_out(self, queue: MemoryQueue, batch: Sequence[ReceivedMessage]) -> None:
        """Deliveries that Lambda turned away count, too: this is the last before the queue of suspects."""
        if queue.dead_letters and self.stack.chance.surprise(f"{queue.name} given out", self.stack.weather.given_out):
            self.stack.log(
                "AWS", f"has given {self._named(batch)} out a thousand times: its queue is the suspects' now"
            )
            ids = {one.message_id for one in batch}
            for message in queue.messages:
                if message.message_id in ids:
                    message.receives = queue.max_receives

    def _delete(self, queue: MemoryQueue, taken: Batch, answer: Any, about: Sequence[str]) -> None:
        batch = taken.items
        self._busy[queue.name] -= 1
        self._under_way.subtract(one.body for one in batch)
        if isinstance(answer, BaseException):
            if not isinstance(answer, NotStarted):
                self.stack.watch.died.update(one.body for one in batch)
            return
        failed = list(answer)
        self.stack.watch.came_back([one.body for one in batch if one.message_id in failed])
        if self.stack.chance.surprise(f"{queue.name} delete lost", self.stack.weather.repeats / 2):
            self.stack.log("AWS", f"forgets that {self._named(batch)} was deleted from the {queue.name} queue")
            self.stack.watch.excuses.update(about)
            failed = [one.message_id for one in batch]
        taken.settle(failed)
        self.stack.watch.check_copies()

    def _named(self, batch: Sequence[ReceivedMessage]) -> str:
        return ", ".join(self.stack.watch.name(body_of(one.body).id) for one in batch)

    # ------------------------------------------------------------ the topic

    def publish(self, event: LifecycleEvent) -> None:
        """stream-lifecycle and the topic: what happens to an occurrence comes to the stepper; late, twice, or never."""
        chance, weather = self.stack.chance, self.stack.weather
        if kind_of(event.schedule_id) is not IdKind.OCCURRENCE or event.type not in AT_THE_CLAIM:
            return  # the others are no reason for any step
        if chance.surprise("event lost", weather.lost):
            self.stack.log("AWS", f"loses the event that {self.stack.watch.name(event.schedule_id)} is {event.type}")
            return
        body = encode(event)

        def deliver() -> None:
            self.stack.series_queue.send([Outgoing(body=body)])

        self._later("event", 5, 60, deliver)
        if chance.surprise("event doubled", weather.repeats):
            self._later("event", 5, 3 * MINUTE, deliver)

    # ------------------------------------------------------------ the minute task, and TTL

    def tick(self) -> None:
        """EventBridge, once a minute: as long as there is something that a tick could do."""
        kernel = self.stack.kernel
        kernel.at(kernel.now + MINUTE, self.tick)
        self._minutes += 1
        idle = not self.stack.there.schedules and not self.stack.has_waiting()
        if self.looking_after_series and self.stack.watch.series.waiting():
            self._tick_of("series tick", self.stack.series_tick)
        if self.ticking and self.stack.there.waiting:
            self._tick_of("timing tick", self.stack.timing_tick)
        if not self.ticking or (idle and self._minutes % IDLE):
            return
        self._tick_of("tick", self.stack.tick)

    def _tick_of(self, function: str, use: Callable[[], Any]) -> None:
        chance = self.stack.chance

        def run() -> None:
            self.stack.start(function, use, lambda answer: None)

        fault = chance.surprise(function, self.stack.weather.ticks)
        kind = chance.one_of(f"{function} fault", ("skipped", "doubled", "late")) if fault else ""
        if fault:
            self.stack.log("EventBridge", f"a {function} is {kind}")
        if kind != "skipped":
            self._later(function, 0, 30 * SECOND if kind == "late" else 300, run)
        if kind == "doubled":
            self._later(function, 0, 2 * SECOND, run)

    def expire(self) -> None:
        """TTL deletes what has expired, some time afterwards."""
        now, there, items = self.stack.kernel.now, self.stack.there, self.stack.items
        for key in [key for key, row in there.schedules.items() if isinstance(row, Schedule) and row.expires_at <= now]:
            self.stack.log("TTL", f"deletes the record {key.due[-6:]}")
            items.expire_one(SCHEDULES, key_item(key))
        for schedule_id in [schedule_id for schedule_id, row in there.ledger.items() if row.expires_at <= now]:
            items.expire_one(LEDGER, {KEY: schedule_id})

    def expire_later(self, row: Any) -> None:
        """TTL deletes a record of the relaxed lane: some minutes after its time, or hours."""
        if not isinstance(row, Schedule):
            return
        chance, kernel, key = self.stack.chance, self.stack.kernel, key_of(row.id)
        longest = (
            10 * MINUTE if chance.calm else chance.one_of("TTL at most", (MINUTE, 10 * MINUTE, 10 * MINUTE, 5 * HOUR))
        )
        wait = chance.whole("TTL", 0, longest)

        def expire() -> None:
            if key in self.stack.there.relaxed:
                self.stack.log("TTL", f"deletes the record of {self.stack.watch.name(row.id)}")
                self.stack.items.expire_one(RELAXED, key_item(key))

        kernel.at(max(row.expires_at, kernel.now) + wait, expire)

    def _later(
        self, label: str, low: Millis, high: Millis, do: Callable[[], None], since: Millis | None = None
    ) -> None:
        """In a moment; sometimes in quite a while."""
        chance, kernel = self.stack.chance, self.stack.kernel
        wait = chance.whole(f"{label} delivery", low, high)
        if chance.surprise(f"{label} late", self.stack.weather.delays):
            wait += chance.whole(f"{label} how late", 0, chance.one_of(f"{label} which delay", LONG))
            self.stack.log("AWS", f"delivers from the {label} {wait} ms late")
        kernel.at((kernel.now if since is None else since) + wait, do)
