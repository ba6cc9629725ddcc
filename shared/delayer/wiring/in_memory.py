"""A whole stack in memory, under a clock that is moved by hand: what it stores, and the bundle of each function.

What `Environment` is in Lambda, `FunctionPorts` is here: the factories of `use_cases` make the same functions from it,
on SQLite in memory and the shipped fakes. Nothing runs by itself: who uses it does what AWS does between the functions.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from typing import Any, Final

from attrs import define, field, frozen

from delayer.core.actions.built_in import built_in
from delayer.core.actions.registration import Registration
from delayer.core.api.quota import Limits
from delayer.core.schedule.instants import DAY, MINUTE, SECOND, Millis
from delayer.core.schedule.schedule_id import IdKeys, first_keys
from delayer.core.signing.keys import SigningKeys
from delayer.core.signing.keys import first_keys as first_signing_keys
from delayer.core.timing.policy import policies
from delayer.fakes.connections.secrets import MemorySeal, MemorySecrets
from delayer.fakes.messaging.objects import MemoryObjects
from delayer.fakes.messaging.queue import MemoryQueue
from delayer.fakes.messaging.topic import MemoryTopic
from delayer.fakes.runtime.clock import ManualClock, ManualMeeting
from delayer.fakes.runtime.function import MemoryFunction
from delayer.fakes.runtime.observer import MemoryObserver
from delayer.fakes.runtime.sequence import AtOnce, InOrder, Tokens
from delayer.ports.clock import Clock, Meeting, Parallel
from delayer.repositories.connections.connections import StoredConnections
from delayer.repositories.connections.tokens import StoredTokens
from delayer.repositories.control.actions import StoredActions
from delayer.repositories.control.control import StoredControl
from delayer.repositories.control.owner_claim import StoredOwnerClaim
from delayer.repositories.control.owner_policies import StoredOwnerPolicies
from delayer.repositories.control.signing_rows import StoredSigningRows
from delayer.repositories.control.trials import StoredTrials
from delayer.repositories.dead_letters import StoredDeadLetters
from delayer.repositories.feed import CONTROL, JOURNAL, LEDGER, REGISTRY, RELAXED, SCHEDULES, WAITING, Feed
from delayer.repositories.flow.blocks import StoredBlocks
from delayer.repositories.flow.lines import StoredLines
from delayer.repositories.flow.seats import StoredSeats
from delayer.repositories.journal.journal import StoredJournal
from delayer.repositories.journal.live_count import StoredLiveCount
from delayer.repositories.ledger.in_batches import StoredLedgerInBatches
from delayer.repositories.ledger.ledger import StoredLedger
from delayer.repositories.registry.jobs import StoredJobs
from delayer.repositories.registry.rate_limit import StoredRateLimit
from delayer.repositories.registry.registry import StoredRegistry
from delayer.repositories.schedules.records import StoredRecords
from delayer.repositories.schedules.schedule_table import StoredScheduleTable
from delayer.repositories.schedules.waiting_table import StoredWaitingTable
from delayer.repositories.series.progress import StoredSeriesProgress
from delayer.repositories.series.series_table import StoredSeries
from delayer.repositories.series.upkeep import StoredSeriesUpkeep
from delayer.sqlite.sqlite_store import SqliteStore
from delayer.store.items import Item, row_key
from delayer.store.writes import Put
from delayer.use_cases.actions.registered import RegisteredActions
from delayer.use_cases.flow.slots import Slots
from delayer.use_cases.limits.seats import Seats
from delayer.use_cases.owners.known import KnownOwnerPolicies

START: Final[Millis] = 1_795_251_600_000  # 2026-11-21T09:00:00Z
PERIOD: Final = 14 * MINUTE
LEASE: Final = 10 * SECOND
LEAD: Final = 250
STACK: Final = "arn:aws:cloudformation:eu-west-1:123456789012:stack/delayer/0a1b"
KEY: Final = bytes(range(100, 132))  # behind the ids
SIGNING_KEY: Final = bytes(range(32))  # behind the signatures
REMOTE: Final = {  # the parts of a bundle behind which AWS may fail, and what they are called here
    "schedules": "table",
    "records": "records",
    "timed_records": "records",
    "waiting": "waiting_table",
    "waiting_records": "waiting_records",
    "ledger": "ledger",
    "ledger_in_batches": "ledger_in_batches",
    "control": "control",
    "signing_rows": "signing_rows",
    "trials": "trials",
    "blocks": "blocks",
    "lines": "lines",
    "registry": "registry",
    "series": "series",
    "series_upkeep": "series_upkeep",
    "series_progress": "series_progress",
    "jobs": "jobs",
    "connections": "connections",
    "secrets": "secrets",
    "token_rows": "token_rows",
    "seal": "seal",
    "dead_letter_store": "store",
    "delayer_queue": "delayer_queue",
    "sweep_queue": "sweep_queue",
    "group_queue": "group_queue",
    "own_queue": "http_queue",
    "fail_fast_journal": "journal",
}
LOCAL: Final = {  # those that always answer
    "observer": "observer",
    "background": "background",
    "new_meeting": "meeting",
    "journal": "journal",
    "rate_limit": "rate_limit",
    "live_count": "live_count",
    "fail_fast_live_count": "live_count",
    "topic": "topic",
    "read_dead_letter": "contents",
    "stream_consumer": "stream_consumer",
    "consumers": "handlers",
    "randomness": "some_bytes",
    "pick": "picked",
    "new_job_id": "new_id",
    "new_series_id": "new_id",
    "action_rows": "action_rows",
    "owner_claim": "owner_claim",
    "owner_policies": "owner_policies",
    "owner_policy_rows": "owner_policy_rows",
    "function_at": "function_at",
    "executor_remote": "remote",
}


@frozen(kw_only=True)
class StackSettings:
    """What the template would set."""

    shards: int
    limits: Limits
    period: Millis = PERIOD
    lease: Millis = LEASE
    lead: Millis = LEAD
    keep_for: Millis = 90 * DAY
    event_source: str = "urn:delayer:test"
    stack: str = "delayer"
    stack_id: str = STACK
    has_events: bool = True
    has_journal: bool = True
    has_canary: bool = False
    backlog_mark: int = 10_000
    heartbeats: int = 2
    suspects: str = ""
    max_live: int = 1  # the journal counts, whether there is a limit or not
    policies: Collection[str] = field(factory=policies)


@frozen(kw_only=True)
class FunctionPorts:
    """The bundle of one function: each port as the stack lets the function have it."""

    stack: "StackInMemory"
    source: str

    @property
    def clock(self) -> Clock:
        """The time."""
        return self.stack.clock_for(self.source)

    @property
    def parallel(self) -> Parallel:
        """Threads, or what stands for them."""
        return self.stack.parallel()

    @property
    def slots(self) -> Slots:
        """The attempts that are under way."""
        return Slots(clock=self.clock)

    @property
    def seats(self) -> Seats:
        """Those of limits of concurrency."""
        rows = self.stack.port_for(self.source, self.stack.seat_rows)
        return Seats(clock=self.clock, rows=rows, new_id=self.new_token, observer=self.stack.observer)

    @property
    def actions(self) -> RegisteredActions:
        """The registered action types."""
        return self.stack.actions

    @property
    def executor_queues(self) -> Mapping[str, Any]:
        """The queue of each action type."""
        return self.stack.queues_for(self.source)

    @property
    def policy_queues(self) -> Mapping[str, Any]:
        """The queue of each policy."""
        return self.stack.policy_queues_for(self.source)

    @property
    def new_token(self) -> Callable[[], str]:
        """A fresh nonce or fencing token."""
        return self.stack.token_for(self.source)

    @property
    def settings(self) -> StackSettings:
        """What the template sets."""
        return self.stack.settings_for(self.source)

    def __getattr__(self, name: str) -> Any:
        if name in REMOTE:
            return self.stack.port_for(self.source, getattr(self.stack, REMOTE[name]))
        if name in LOCAL:
            return getattr(self.stack, LOCAL[name])
        raise AttributeError(name)


@cache
def _deployed() -> Sequence[Item]:
    """What the deployment of a stack writes into its control table. It is the same for all: it is made once."""
    items = SqliteStore()
    control: dict[str, Any] = {"store": items, "table": CONTROL}
    actions = StoredActions(**control)
    for kind, action in built_in().items():
        actions.write(kind, (Registration(action=action, stack=STACK, token="first"),), ())  # noqa: S106 - no secret
    StoredControl(**control).write_id_keys(first_keys(KEY, 0), IdKeys())  # operator-id-key has run
    StoredSigningRows(**control).write_signing_keys(first_signing_keys(SIGNING_KEY, 0), SigningKeys())
    return tuple(items.rows(CONTROL))


@define(kw_only=True, slots=False)
class StackInMemory:
    """What one stack stores. Whoever derives from it says what may fail, who waits, and what runs when."""

    shards: int = 2
    page_size: int = 500
    limits: Limits = field(factory=Limits)
    clock: ManualClock = field(init=False, factory=lambda: ManualClock(START))
    observer: MemoryObserver = field(init=False, factory=MemoryObserver)
    store: StoredDeadLetters[MemoryObjects] = field(init=False, factory=lambda: StoredDeadLetters(MemoryObjects()))
    topic: MemoryTopic = field(init=False, factory=MemoryTopic)
    tokens: Tokens = field(init=False, factory=Tokens)
    background: AtOnce = field(init=False, factory=AtOnce)

    def prepare(self) -> None:
        """What the deployment of a stack does, before any function runs."""
        self.settings = StackSettings(shards=self.shards, limits=self.limits)
        self.remote = MemoryFunction()
        self.function_at = lambda _: self.remote
        self.make_adapters()
        self.items.write_all([Put(CONTROL, row_key(item["name"]), item) for item in _deployed()])
        self.actions = RegisteredActions(clock=self.clock, store=self.action_rows)
        self.owner_policies = KnownOwnerPolicies(clock=self.clock, store=self.owner_policy_rows)

    def make_adapters(self) -> None:
        """What is stored, and what is on its way."""
        self.make_store()
        self.make_tables()
        self.make_rows()
        self.make_queues()

    def make_store(self) -> None:
        """The engine under all tables."""
        self.feed = Feed(self.clock)
        self.items = SqliteStore(heard=self.feed.hear)

    def make_tables(self) -> None:
        """The tables whose names the functions are given."""
        items, page = self.items, self.page_size
        lanes = {"schedules_table": SCHEDULES, "relaxed_table": RELAXED, "waiting_table": WAITING}
        self.table = StoredScheduleTable(store=items, table=SCHEDULES, page_size=page)
        self.relaxed = StoredScheduleTable(store=items, table=RELAXED, page_size=page)
        self.waiting_records = StoredScheduleTable(store=items, table=WAITING, page_size=page)
        self.waiting_table = StoredWaitingTable(store=items, table=WAITING)
        self.records = StoredRecords(store=items, **lanes)
        self.ledger = StoredLedger(store=items, table=LEDGER, parallel=self.parallel())
        self.ledger_in_batches = StoredLedgerInBatches(store=items, table=LEDGER, parallel=InOrder())
        self.registry = StoredRegistry(store=items, **lanes, ledger_table=LEDGER, registry_table=REGISTRY)
        self.series = StoredSeries(
            store=items,
            schedules_table=SCHEDULES,
            relaxed_table=RELAXED,
            ledger_table=LEDGER,
            registry_table=REGISTRY,
        )
        self.journal = StoredJournal(store=items, table=JOURNAL, parallel=InOrder())
        self.live_count = StoredLiveCount(store=items, table=JOURNAL)

    def make_rows(self) -> None:
        """The rows of the registry and of the control table."""
        registry: dict[str, Any] = {"store": self.items, "table": REGISTRY}
        control: dict[str, Any] = {"store": self.items, "table": CONTROL}
        self.token_rows, self.connections = StoredTokens(**registry), StoredConnections(**registry)
        self.secrets, self.seal = MemorySecrets(), MemorySeal()
        self.series_upkeep, self.series_progress = StoredSeriesUpkeep(**registry), StoredSeriesProgress(**control)
        self.blocks, self.lines, self.seat_rows = (
            StoredBlocks(**registry),
            StoredLines(**registry),
            StoredSeats(**registry),
        )
        self.jobs, self.rate_limit = StoredJobs(**registry), StoredRateLimit(**registry)
        self.control, self.trials = StoredControl(**control), StoredTrials(**control)
        self.signing_rows, self.action_rows = StoredSigningRows(**control), StoredActions(**control)
        self.owner_claim, self.owner_policy_rows = StoredOwnerClaim(**control), StoredOwnerPolicies(**control)

    def make_queues(self) -> None:
        """What is on its way. All executors share a queue, and all policies another."""
        self.delayer_queue = MemoryQueue(clock=self.clock, name="delayer")
        self.sweep_queue = MemoryQueue(clock=self.clock, name="sweep", visibility=90 * SECOND)
        self.group_queue = MemoryQueue(clock=self.clock, name="group", visibility=120 * SECOND, fifo=True)
        self.http_queue = MemoryQueue(clock=self.clock, name="http", visibility=90 * SECOND)
        self.policy_queue = MemoryQueue(clock=self.clock, name="policy-spread", visibility=120 * SECOND)

    def ports(self, function: str) -> FunctionPorts:
        """The bundle of one function."""
        return FunctionPorts(stack=self, source=function)

    # ------------------------------------------------------------ how a function sees it

    def port_for(self, function: str, port: Any) -> Any:  # noqa: ARG002 - for those whose functions fare differently
        """A part behind which AWS may fail."""
        return port

    def clock_for(self, function: str) -> Clock:  # noqa: ARG002
        """The time of a function."""
        return self.clock

    def settings_for(self, function: str) -> StackSettings:  # noqa: ARG002
        """What the template sets for a function."""
        return self.settings

    def token_for(self, function: str) -> Callable[[], str]:  # noqa: ARG002
        """Where a function has its nonces and fencing tokens from."""
        return self.tokens

    def queues_for(self, function: str) -> Mapping[str, Any]:
        """The queues of the actions, as a function sees them."""
        return {"http-request": self.port_for(function, self.http_queue)}

    def policy_queues_for(self, function: str) -> Mapping[str, Any]:
        """The queues of the policies, as a function sees them."""
        return {"spread": self.port_for(function, self.policy_queue)}

    def parallel(self) -> Parallel:
        """One thing after the other."""
        return InOrder()

    def meeting(self) -> Meeting:
        """Where threads of a function wait for each other: not for real, as those of `parallel` follow one another."""
        return ManualMeeting()

    def new_id(self) -> str:
        """Of a job or a series."""
        return self.tokens()

    def picked(self, number: int) -> int:
        """Below it."""
        return self.tokens.count % number

    def some_bytes(self, number: int) -> bytes:
        """Others each time."""
        self.tokens()
        return self.tokens.count.to_bytes(number, "big")
