"""A whole stack in memory, under a clock that is moved by hand: what it stores, and the bundle of each function.

`StackInMemory` is a bundle with SQLite and the fakes in the place of what reaches AWS; `FunctionPorts` is what
one function sees of it. Nothing runs by itself: who uses it lets a pump do what AWS does between the functions.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Any, Final, cast

from attrs import define, evolve, field, frozen

from delayer.accept.rules.window import policies
from delayer.actions.repository import StoredActions
from delayer.actions.rules.foreign import built_in
from delayer.actions.rules.registration import Registration
from delayer.dead_letters.repository import StoredDeadLetters
from delayer.engines.memory import (
    AtOnce,
    ManualClock,
    MemoryObjects,
    MemoryObserver,
    MemorySeal,
    MemorySecrets,
    Tokens,
)
from delayer.engines.ports import Clock, Parallel, Workers
from delayer.engines.process import InOrder
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.model import Item, Put, row_key
from delayer.owners.rules import Quotas
from delayer.records.repository import StoredControl, StoredScheduleTable
from delayer.schedule.instants import DAY, MINUTE, SECOND, Millis
from delayer.schedule.schedule_id import IdKeys, first_keys
from delayer.schedule.table_change import RecordChange
from delayer.schedule.tables import CONTROL, JOURNAL, LEDGER, REGISTRY, RELAXED, SCHEDULES, WAITING
from delayer.signing.repository import StoredSigningRows
from delayer.signing.rules import SigningKeys
from delayer.signing.rules import first_keys as first_signing_keys
from delayer.wiring.build import Part
from delayer.wiring.bundle import PARTS, Bundle
from delayer.wiring.manifest import ANNOUNCES, MANIFEST, EachMinute, FromQueue, FromStream, Reaction
from delayer.wiring.pump import Minutes, QueueSource, Source
from delayer.wiring.settings import Settings
from tests.fakes.messaging import MemoryFunction, MemoryQueue, MemoryTopic
from tests.fakes.sources import LifecycleSource, StreamSource
from tests.fakes.streams import Feed, MemoryStream

START: Final[Millis] = 1_795_251_600_000  # 2026-11-21T09:00:00Z
PERIOD: Final = 14 * MINUTE
LEASE: Final = 10 * SECOND
LEAD: Final = 250
STACK: Final = "arn:aws:cloudformation:eu-west-1:123456789012:stack/delayer/0a1b"
KEY: Final = bytes(range(100, 132))  # behind the ids
SIGNING_KEY: Final = bytes(range(32))  # behind the signatures
SETTINGS: Final = Settings(
    period=PERIOD,
    lease=LEASE,
    lead=LEAD,
    shards=2,
    quotas=Quotas(),
    max_live=1,  # the journal counts, whether there is a limit or not
    backlog_mark=10_000,
    heartbeats=2,
    suspects="",
    stack="delayer",
    stack_id=STACK,
    keep_for=90 * DAY,
    event_source="urn:delayer:test",
    has_events=True,
    has_journal=True,
    has_canary=False,
    policies=policies(),
    has_timing=True,
    lanes=("relaxed",),
    schedules_table=SCHEDULES,
    relaxed_table=RELAXED,
    waiting_table=WAITING,
    timing_table=WAITING,
    ledger_table=LEDGER,
    control_table=CONTROL,
    registry_table=REGISTRY,
    journal_table=JOURNAL,
)
# The parts that a function makes of its own, as it does the use cases of its own; those that a stack gives to each
# function by its name; and those of which the stack has one that always answers. Behind all others AWS may fail.
OWN: Final = frozenset({"listed_journal", "optional_journal", "optional_waiting", "cancel_of_series", "canary"})
GIVEN: Final = {
    "clock": "clock_for",
    "workers": "workers_for",
    "settings": "settings_for",
    "new_token": "token_for",
    "executor_queues": "queues_for",
    "policy_queues": "policy_queues_for",
}
SAFE: Final = frozenset(
    {"observer", "parallel", "randomness", "pick", "new_job_id", "new_series_id"}
    | {"journal", "live_count", "fail_fast_live_count", "rate_limit", "topic", "read_dead_letter"}
    | {"actions", "action_rows", "owner_claim", "owner_policies", "owner_policy_rows"}
    | {"stream_consumer", "consumers", "function_at", "executor_remote", "rule_of", "tz_version"}
)
HERE: Final = {  # what a part is called here, where it is another one or none of its own
    "schedules": "table",
    "timed_records": "records",
    "fail_fast_items": "items",
    "fail_fast_journal": "journal",
    "fail_fast_live_count": "live_count",
    "dead_letter_store": "store",
    "own_queue": "http_queue",
}


@frozen(kw_only=True)
class FunctionPorts:
    """The bundle of one function: each part as the stack lets the function have it."""

    stack: "StackInMemory"
    source: str

    def __getattr__(self, name: str) -> Any:
        how = vars(Bundle).get(name)
        if name in OWN and isinstance(how, cached_property):
            return how.func(self)
        if isinstance(how, Part) and name not in SAFE and "store" not in how.names:
            return how.make(cast("Bundle", self))
        if name in GIVEN:
            return getattr(self.stack, GIVEN[name])(self.source)
        if name not in PARTS:
            raise AttributeError(name)
        part = getattr(self.stack, HERE.get(name, name))
        return part if name in SAFE else self.stack.port_for(self.source, part)


@cache
def _deployed() -> Sequence[Item]:
    """The items that the deployment of a stack writes into its control table. They are the same for all: they
    are made once.
    """
    items = SqliteStore()
    control: dict[str, Any] = {"store": items, "table": CONTROL}
    actions = StoredActions(**control)
    for kind, action in built_in().items():
        actions.write(kind, (Registration(action=action, stack=STACK, token="first"),), ())
    StoredControl(**control).write_id_keys(first_keys(KEY, 0), IdKeys())  # operator-id-key has run
    StoredSigningRows(**control).write_signing_keys(first_signing_keys(SIGNING_KEY, 0), SigningKeys())
    return tuple(items.rows(CONTROL))


@define(kw_only=True, slots=False)
class StackInMemory(Bundle):
    """The stores of one stack. A class that derives from it says what may fail, who waits, and what runs when."""

    shards: int = 2
    page_size: int = 500
    limits: Quotas = field(factory=Quotas)
    source: str = "stack"
    clock: ManualClock = field(init=False, factory=lambda: ManualClock(START))
    observer: MemoryObserver = field(init=False, factory=MemoryObserver)
    store: StoredDeadLetters[MemoryObjects] = field(init=False, factory=lambda: StoredDeadLetters(MemoryObjects()))
    topic: MemoryTopic = field(init=False, factory=MemoryTopic)
    tokens: Tokens = field(init=False, factory=Tokens)
    parallel: Parallel = field(init=False, factory=InOrder)
    secrets: MemorySecrets = field(init=False, factory=MemorySecrets)
    seal: MemorySeal = field(init=False, factory=MemorySeal)
    executor_remote: MemoryFunction = field(init=False, factory=MemoryFunction)
    feed: Feed = field(init=False)
    items: SqliteStore = field(init=False)
    delayer_queue: MemoryQueue = field(init=False)
    sweep_queue: MemoryQueue = field(init=False)
    group_queue: MemoryQueue = field(init=False)

    def prepare(self) -> None:
        """Does the work of a deployment, before any function runs."""
        self.settings = evolve(SETTINGS, shards=self.shards, quotas=self.limits)
        self.function_at = lambda _: self.executor_remote
        self.make_adapters()
        self.items.write_all([Put(CONTROL, row_key(item["name"]), item) for item in _deployed()])
        read = [one for row in MANIFEST if row.use != ANNOUNCES for one in row.sources if isinstance(one, FromStream)]
        self.streams = {one.table: self.new_stream(one) for one in read}  # a table has one such reader

    def make_adapters(self) -> None:
        """Makes the tables, and the queues. Adapters that are not made here are made as the bundle says."""
        self.make_store()
        self.make_tables()
        self.make_queues()

    def make_store(self) -> None:
        """The engine under all tables."""
        self.feed = Feed(self.clock)
        self.items = SqliteStore(heard=self.feed.hear)

    def make_tables(self) -> None:
        """Makes the tables that are read page by page."""
        items, page = self.items, self.page_size
        self.table = StoredScheduleTable(store=items, table=SCHEDULES, page_size=page)
        self.relaxed = StoredScheduleTable(store=items, table=RELAXED, page_size=page)
        self.waiting_records = StoredScheduleTable(store=items, table=WAITING, page_size=page)

    def make_queues(self) -> None:
        """Makes the queues that the manifest names. All executors share a queue, and all policies another."""
        self.queues = {one.queue.name: self.new_queue(one.queue) for one in MANIFEST if one.queue}
        self.delayer_queue, self.http_queue = self.queues["delayer"], self.queues["executor-*"]
        self.sweep_queue, self.group_queue = self.queues["sweep"], self.queues["group"]
        self.policy_queue = self.queues["policy-*"]

    def new_queue(self, queue: FromQueue) -> MemoryQueue:
        """One of them."""
        return MemoryQueue(clock=self.clock, name=queue.name, visibility=queue.hidden, fifo=queue.fifo)

    # ------------------------------------------------------------ what starts the functions

    def sources(self, functions: Collection[str]) -> list[Source]:
        """Of these functions, in the order of the manifest."""
        return [source for one in MANIFEST if one.function in functions for source in self._sources_of(one)]

    def new_stream(self, stream: FromStream) -> MemoryStream:
        """One of them."""
        records = self.feed.records[stream.table]
        return MemoryStream(self.clock, records, self.discard, shards=self.shards, batch=stream.batch)

    def _sources_of(self, row: Reaction) -> Iterator[Source]:
        if row.use == ANNOUNCES:
            reads = [one for one in row.sources if isinstance(one, FromStream)]
            yield LifecycleSource(function=row.function, feed=self.feed, reads=reads)
            return
        for one in row.sources:
            match one:
                case FromStream(table=table):
                    yield StreamSource(function=row.function, stream=self.streams[table])
                case FromQueue(name=name, batch=batch):
                    yield QueueSource(function=row.function, queue=self.queues[name], at_most=batch)
                case EachMinute():
                    yield Minutes(function=row.function, clock=self.clock)

    def discard(self, batch: Sequence[RecordChange]) -> None:
        """The failure destination of the streams: nothing here is tried for so long."""
        raise AssertionError(f"{len(batch)} records of a stream were given up on, {self.observer.lines[-3:]}")

    def ports(self, function: str) -> Bundle:
        """The bundle of one function."""
        return cast("Bundle", FunctionPorts(stack=self, source=function))

    # ------------------------------------------------------------ how a function sees it

    def port_for(self, function: str, port: Any) -> Any:
        """A part behind which AWS may fail."""
        return port

    def clock_for(self, function: str) -> Clock:
        """The time of a function."""
        return self.clock

    def settings_for(self, function: str) -> Settings:
        """The settings that the template gives a function."""
        return self.settings

    def token_for(self, function: str) -> Callable[[], str]:
        """Where a function has its nonces and fencing tokens from."""
        return self.tokens

    def queues_for(self, function: str) -> Mapping[str, Any]:
        """The queues of the actions, as a function sees them."""
        return {"http-request": self.port_for(function, self.http_queue)}

    def policy_queues_for(self, function: str) -> Mapping[str, Any]:
        """The queues of the policies, as a function sees them."""
        return {"spread": self.port_for(function, self.policy_queue)}

    def workers_for(self, function: str) -> Workers:
        """Nothing takes its time here."""
        return AtOnce(self.clock_for(function))

    def new_job_id(self) -> str:
        """As that of a series."""
        return self.tokens()

    def new_series_id(self) -> str:
        """As that of a job."""
        return self.new_job_id()

    def pick(self, below: int) -> int:
        """One after the other."""
        return self.tokens.count % below

    def randomness(self, number: int) -> bytes:
        """Others each time."""
        self.tokens()
        return self.tokens.count.to_bytes(number, "big")
