"""A load on its way through a stack: sweep, stream, delayer queue, relay, queue of the action, executor, target."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

from attrs import define, field, frozen

from bench.scale import facts
from bench.scale.engine import (
    Account,
    Action,
    Chunk,
    Engine,
    OwnProcessor,
    Pollers,
    Rate,
    Seconds,
    Serve,
    SharedProcessors,
    Station,
)
from bench.scale.figures import Figures, Work
from bench.scale.stack import Mapping, Stack

QUEUE_BATCH = int(facts.QUEUE_BATCH.value)
STREAM_BATCH = 100
TICK = 2.0  # seconds until a tick has come to the minute that entered the delayer period
TOGETHER = 0.1  # of the lead; what is due within the rest of it shares a request (ADR 0016)
SENT_WITHIN = 0.6  # of an executor's work comes before the request; outcomes and logs come after it
ENQUEUE, IGNORE, RELAY, EXECUTE = "enqueue", "ignore", "relay", "execute"
NOTHING = "nothing"
LEDGER = "writes of the ledger"
WRITES = 2  # of the ledger for each schedule: claim and outcome
FULL = 0.95  # of what it can write


FUNCTIONS: Final = {  # of each station, as its import is measured
    "enqueue": "stream-enqueuer",
    "relay": "delayer-relay",
    "execute": "executor-http-request",
}


@frozen(kw_only=True)
class Load:
    """So many schedules, due from 0 on at even distances within so many seconds, POSTed long before."""

    name: str
    schedules: int
    within: Seconds

    def minutes(self) -> Iterator[tuple[Seconds, int, Seconds]]:
        """When each minute begins, how many are due in it, and within how much of it: the last may be shorter."""
        start, before = 0.0, 0
        while start == 0 or start < self.within:
            length = min(self.within - start, 60.0)
            until = round(self.schedules * (start + length) / self.within) if self.within else self.schedules
            yield start, until - before, length
            start, before = start + 60.0, until


@frozen(kw_only=True)
class Outcome:
    """What became of it."""

    late: Counter[int]  # schedules by their lateness in ms
    last: Seconds  # the last arrival, from the first due instant on
    waited: dict[str, float]  # seconds of schedules after they were due, by what they waited for
    stations: dict[str, Station]
    requests: int  # to SQS by functions: sends
    load: Load
    stack: Stack

    def percentile(self, share: float) -> Seconds:
        """Nearest rank."""
        rank, seen = max(1, -(-round(share * sum(self.late.values()) * 1000) // 1000)), 0
        for ms in sorted(self.late):
            seen += self.late[ms]
            if seen >= rank:
                return ms / 1000
        return 0.0

    def binds(self) -> str:
        """What it waited for most, if a schedule waited for it for 10 ms on average.

        Where the ledger wrote all the time, it was the ledger: what waits for it keeps pollers busy.
        """
        most = max(self.waited, key=self.waited.__getitem__, default="")
        if not most or self.waited[most] <= 0.01 * self.load.schedules:
            return NOTHING
        return LEDGER if self.written > FULL else most

    @property
    def written(self) -> float:
        """Which part of what the ledger could write until the last arrival was written."""
        return WRITES * self.load.schedules / (self.stack.ledger_writes * self.last)


@define(kw_only=True, slots=False)
class Model:
    """One run."""

    stack: Stack
    figures: Figures
    seed: int = 1
    engine: Engine = field(factory=Engine)
    late: Counter[int] = field(factory=Counter)
    last: Seconds = 0.0
    sends: int = 0
    waited: dict[str, float] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        stack = self.stack
        self.random = Random(self.seed)
        self.ledger = Rate(per_second=stack.ledger_writes)
        self.schedules = Rate(per_second=stack.schedule_writes)
        self.account = Account(free=stack.concurrency)
        self.shared = shared = SharedProcessors(free=[0.0] * stack.processors) if stack.processors else None
        self.processors = {
            ENQUEUE: shared or own(stack.enqueuer_memory),
            RELAY: shared or own(stack.relay_memory),
            EXECUTE: shared or own(stack.executor_memory),
        }
        lanes = float(stack.stream_shards * stack.lanes)
        self.enqueuer = self._station(
            ENQUEUE, Pollers(allowed=lanes, more=0.0, at_most=lanes), self._enqueue, STREAM_BATCH
        )
        self.relay = self._station(RELAY, self._pollers(stack.relay), self._relay, QUEUE_BATCH)
        self.executor = self._station(EXECUTE, self._pollers(stack.executor), self._execute, QUEUE_BATCH)

    def run(self, load: Load) -> Outcome:
        """All of it, to the last arrival."""
        feed = self._feed_queue if self.stack.processors else self._sweep
        for start, count, within in load.minutes():
            feed(start, count, within)
        self.engine.run()
        stations = {ENQUEUE: self.enqueuer, RELAY: self.relay, EXECUTE: self.executor}
        waited = dict(self.waited)
        for station in stations.values():
            for cause, seconds in station.waited.items():
                waited[cause] = waited.get(cause, 0.0) + seconds
        return Outcome(
            late=self.late,
            last=self.last,
            waited=waited,
            stations=stations,
            requests=self.sends,
            load=load,
            stack=self.stack,
        )

    def _station(self, name: str, pollers: Pollers, serve: Serve, batch: int) -> Station:
        local = bool(self.stack.processors)
        more = Rate(per_second=facts.ENVIRONMENTS_MORE.value)
        known = self.figures.imports
        imports = known.get(FUNCTIONS.get(name, ""), max(known.values(), default=0.0)) / self.stack.core
        return Station(
            name=name,
            engine=self.engine,
            account=self.account,
            pollers=pollers,
            serve=serve,
            batch=batch,
            handed_over=0.0 if local else facts.HANDED_OVER.value,
            cold=facts.COLD_HERE.value if local else facts.COLD.value + imports,
            started_by=self.shared,
            new_environments=None if local else more,
            at_once=int(facts.ENVIRONMENTS_AT_ONCE.value),
            environments=self.stack.warm,
        )

    def _pollers(self, mapping: Mapping) -> Pollers:
        if not mapping.pollers:  # the emulator's mappings do as Lambda's
            first, most = facts.POLLERS_AT_FIRST.value, min(float(mapping.at_most), facts.POLLERS_AT_MOST.value)
            return Pollers(allowed=min(first, most), more=facts.POLLERS_MORE.value, at_most=most)
        each = facts.PROVISIONED_INVOKES.value
        return Pollers(
            allowed=mapping.pollers * each,
            more=facts.PROVISIONED_MORE.value,
            at_most=float(mapping.at_most),
            receives=Rate(per_second=mapping.pollers * facts.PROVISIONED_POLLS.value),
            polls=facts.PROVISIONED_POLLS.value / each,
        )

    def _feed_queue(self, start: Seconds, count: int, within: Seconds) -> None:
        """On one machine the sweep is over before anything is due: it only says when messages can be received."""
        for chunk in (
            part
            for whole in chunks(start, count, within, QUEUE_BATCH)
            for part in split(whole, QUEUE_BATCH, self.stack.lead - TOGETHER)
        ):
            self.engine.at(chunk.due - self.random.random(), lambda chunk=chunk: self.relay.put(chunk))  # type: ignore[misc]

    def _sweep(self, start: Seconds, count: int, within: Seconds) -> None:
        """Deleted in due order, as fast as partitions take it; the stream has it when Lambda looks next."""
        stack = self.stack
        rate = stack.shards * facts.PARTITION_WRITES.value
        begin, done = start - stack.period + TICK, 0
        for chunk in chunks(start, count, within, STREAM_BATCH):
            done += chunk.n
            deleted = max(begin + done / rate, self.schedules.take(begin, chunk.n))
            seen = deleted + self.random.random() / facts.STREAM_POLLS.value
            if seen > chunk.due:
                self._note("writes of the schedules table", chunk.n * (seen - chunk.due))
            self.engine.at(seen, lambda chunk=chunk: self.enqueuer.put(chunk))  # type: ignore[misc]

    def _enqueue(self, batch: list[Chunk], end: Action) -> None:
        """One message for each, with a delay in whole seconds, rounded down; ten in a request."""
        count = sum(chunk.n for chunk in batch)
        done = self._worked(ENQUEUE, count) + self._jittered(facts.SQS_ANSWERS)
        for one in batch:
            self.sends += -(-one.n // QUEUE_BATCH)
        for chunk in (part for one in batch for part in split(one, QUEUE_BATCH, self.stack.lead - TOGETHER)):
            delay = max(0, int(chunk.due - done))
            self.engine.at(done + delay, lambda chunk=chunk: self.relay.put(chunk))  # type: ignore[misc]
        self.engine.at(done, end)

    def _relay(self, batch: list[Chunk], end: Action) -> None:
        """Holds what is due together until the hand-over lead begins, claims it, and hands it over; then the next."""
        self._groups(groups_of(batch, self.stack.lead - TOGETHER), 0, end)

    def _groups(self, groups: Sequence[list[Chunk]], at: int, end: Action) -> None:
        if at == len(groups):
            end()
            return
        self.engine.at(groups[at][0].due - self.stack.lead, lambda: self._claim(groups, at, end))

    def _claim(self, groups: Sequence[list[Chunk]], at: int, end: Action) -> None:
        group = groups[at]
        count = sum(chunk.n for chunk in group)
        done = self._worked(RELAY, count, first=at == 0) + self._jittered(facts.DYNAMODB_ANSWERS)
        done += self._connected(self.stack.relay_memory, 2)  # to DynamoDB, and to SQS
        written = self.ledger.take(self.engine.now, count)
        if written > done:
            self._note(LEDGER, count * max(0.0, written - max(done, group[0].due)))
        sent = max(done, written) + self._jittered(facts.SQS_ANSWERS)
        self.sends += 1

        def handed_over() -> None:
            for chunk in group:
                self.executor.put(chunk)
            self._groups(groups, at + 1, end)

        self.engine.at(sent, handed_over)

    def _execute(self, batch: list[Chunk], end: Action) -> None:
        """Reads the ledger, holds each until it is due, sends, and writes outcomes; ends when targets have answered."""
        ready = self.engine.now + self._jittered(facts.DYNAMODB_ANSWERS)
        ready += self._connected(self.stack.executor_memory, 1)
        batch.sort(key=lambda chunk: chunk.due)
        self._send(batch, 0, ready, end)

    def _send(self, batch: list[Chunk], at: int, ready: Seconds, end: Action) -> None:
        chunk = batch[at]

        def due() -> None:
            begin = self.engine.now
            done = self._worked(EXECUTE, chunk.n, first=at == 0)
            done += self._connected(self.stack.executor_memory, 1)  # to the target
            for position in range(chunk.n):
                own_due = chunk.due + chunk.span * position / chunk.n
                each = (done - begin) * SENT_WITHIN / chunk.n
                self._arrive(max(begin + each * (position + 1), own_due + each), own_due)
            if at + 1 < len(batch):
                self._send(batch, at + 1, begin, end)
                return
            written = self.ledger.take(self.engine.now, sum(one.n for one in batch))
            answered = max(done, chunk.last) + self._jittered_by(self.stack.target)
            self.engine.at(max(answered + self._jittered(facts.DYNAMODB_ANSWERS), written), end)

        self.engine.at(max(ready, chunk.due), due)

    def _arrive(self, at: Seconds, due: Seconds) -> None:
        self.late[int((at - due) * 1000)] += 1
        self.last = max(self.last, at)

    def _worked(self, what: str, count: int, *, first: bool = True) -> Seconds:
        """When the processor has done it."""
        now, factor = self.engine.now, self.stack.stretch / self.stack.core
        function, emulator = self.figures.function[what], self.figures.emulator[what]
        return self.processors[what].use(
            now, work(function, count, first) * factor, work(emulator, count, first) * factor
        )

    def _connected(self, memory: int, number: int) -> Seconds:
        """What so many handshakes take, if none of the connections is there."""
        return number * facts.TLS.value / own(memory).share if self.stack.connects else 0.0

    def _jittered(self, fact: facts.Fact) -> Seconds:
        return 0.0 if self.stack.processors else self._jittered_by(fact.value)

    def _jittered_by(self, seconds: Seconds) -> Seconds:
        sigma = self.stack.jitter
        return seconds * self.random.lognormvariate(0.0, sigma) if sigma else seconds

    def _note(self, cause: str, seconds: float) -> None:
        if seconds > 0:
            self.waited[cause] = self.waited.get(cause, 0.0) + seconds


def work(of: Work, count: int, first: bool) -> Seconds:
    """What comes with each batch comes once."""
    return of.of(count) if first else of.each * count


def own(memory: int) -> OwnProcessor:
    """The handlers' threads share one processor at most."""
    return OwnProcessor(share=min(1.0, memory / facts.FULL_PROCESSOR.value))


def chunks(start: Seconds, count: int, within: Seconds, size: int) -> Iterator[Chunk]:
    """In due order."""
    for first in range(0, count, size):
        n = min(size, count - first)
        yield Chunk(start + within * first / count, within * n / count, n)


def split(chunk: Chunk, size: int, within: Seconds) -> Iterator[Chunk]:
    """The same messages in smaller parts, of which each is due within so many seconds."""
    apart = chunk.span / chunk.n
    return chunks(chunk.due, chunk.n, chunk.span, min(size, 1 + int(within / apart)) if apart else size)


def groups_of(batch: list[Chunk], within: Seconds) -> list[list[Chunk]]:
    """In due order; what is due within so many seconds is one."""
    groups: list[list[Chunk]] = []
    for chunk in sorted(batch, key=lambda one: one.due):
        if groups and chunk.due - groups[-1][0].due <= within:
            groups[-1].append(chunk)
        else:
            groups.append([chunk])
    return groups


def simulate(load: Load, stack: Stack, figures: Figures, seed: int = 1) -> Outcome:
    """One run; the same arguments give the same outcome."""
    return Model(stack=stack, figures=figures, seed=seed).run(load)
