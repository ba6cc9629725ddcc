"""A whole stack in memory, under a clock that is moved by hand: what it stores, and the bundle of each function.

What `Environment` is in Lambda, `FunctionPorts` is here: the factories of `use_cases` make the same functions from it,
on the shipped fakes. Nothing runs by itself: who uses it does what AWS does between the functions.
"""

from collections.abc import Callable, Collection, Mapping
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
from delayer.fakes import (
    AtOnce,
    InOrder,
    ManualClock,
    ManualMeeting,
    MemoryActions,
    MemoryBlocks,
    MemoryConnections,
    MemoryControl,
    MemoryDeadLetterStore,
    MemoryFunction,
    MemoryJobs,
    MemoryJournal,
    MemoryLedger,
    MemoryLines,
    MemoryLiveCount,
    MemoryObserver,
    MemoryOwnerClaim,
    MemoryOwnerPolicies,
    MemoryQueue,
    MemoryRateLimit,
    MemoryRecords,
    MemoryRegistry,
    MemoryScheduleTable,
    MemorySeal,
    MemorySeats,
    MemorySecrets,
    MemorySeries,
    MemorySeriesProgress,
    MemorySeriesUpkeep,
    MemorySigningRows,
    MemoryTokens,
    MemoryTopic,
    MemoryTrials,
    MemoryWaitingTable,
    Tokens,
)
from delayer.ports.clock import Clock, Meeting, Parallel
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
    "ledger_in_batches": "ledger",
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


def registered_built_ins() -> MemoryActions:
    """As the deployment of the stack registers them."""
    first = "first"
    return MemoryActions(
        {kind: (Registration(action=action, stack=STACK, token=first),) for kind, action in built_in().items()}
    )


@define(kw_only=True, slots=False)
class StackInMemory:
    """What one stack stores. Whoever derives from it says what may fail, who waits, and what runs when."""

    shards: int = 2
    page_size: int = 500
    limits: Limits = field(factory=Limits)
    clock: ManualClock = field(init=False, factory=lambda: ManualClock(START))
    observer: MemoryObserver = field(init=False, factory=MemoryObserver)
    control: MemoryControl = field(init=False, factory=MemoryControl)
    signing_rows: MemorySigningRows = field(init=False, factory=MemorySigningRows)
    trials: MemoryTrials = field(init=False, factory=MemoryTrials)
    blocks: MemoryBlocks = field(init=False, factory=MemoryBlocks)
    lines: MemoryLines = field(init=False, factory=MemoryLines)
    seat_rows: MemorySeats = field(init=False, factory=MemorySeats)
    ledger: MemoryLedger = field(init=False, factory=MemoryLedger)
    store: MemoryDeadLetterStore = field(init=False, factory=MemoryDeadLetterStore)
    topic: MemoryTopic = field(init=False, factory=MemoryTopic)
    journal: MemoryJournal = field(init=False, factory=MemoryJournal)
    jobs: MemoryJobs = field(init=False, factory=MemoryJobs)
    rate_limit: MemoryRateLimit = field(init=False, factory=MemoryRateLimit)
    live_count: MemoryLiveCount = field(init=False, factory=MemoryLiveCount)
    tokens: Tokens = field(init=False, factory=Tokens)
    background: AtOnce = field(init=False, factory=AtOnce)

    def prepare(self) -> None:
        """What the deployment of a stack does, before any function runs."""
        self.settings = StackSettings(shards=self.shards, limits=self.limits)
        self.action_rows = registered_built_ins()
        self.actions = RegisteredActions(clock=self.clock, store=self.action_rows)
        self.owner_claim = MemoryOwnerClaim()
        self.owner_policy_rows = MemoryOwnerPolicies()
        self.owner_policies = KnownOwnerPolicies(clock=self.clock, store=self.owner_policy_rows)
        self.remote = MemoryFunction()
        self.function_at = lambda _: self.remote
        self.make_adapters()
        self.control.write_id_keys(first_keys(KEY, 0), IdKeys())  # operator-id-key has run
        self.signing_rows.write_signing_keys(first_signing_keys(SIGNING_KEY, 0), SigningKeys())

    def make_adapters(self) -> None:
        """The fakes that know each other."""
        self.make_tables()
        self.make_queues()

    def make_tables(self) -> None:
        """What is stored."""
        self.table = MemoryScheduleTable(page_size=self.page_size, clock=self.clock)
        self.relaxed = MemoryScheduleTable(page_size=self.page_size, clock=self.clock)
        self.records = MemoryRecords(schedules=self.table, relaxed=self.relaxed)
        self.waiting_records = self.records.waiting
        self.waiting_table = MemoryWaitingTable(waiting=self.waiting_records)
        self.token_rows = MemoryTokens()
        self.connections = MemoryConnections(tokens=self.token_rows)
        self.secrets, self.seal = MemorySecrets(), MemorySeal()
        self.registry = MemoryRegistry(schedules=self.records, ledger=self.ledger, connections=self.connections)
        self.series = MemorySeries(
            schedules=self.records,
            ledger=self.ledger,
            requests=self.registry.requests,
            connections=self.connections,
        )
        self.series_upkeep = MemorySeriesUpkeep(series=self.series)
        self.series_progress = MemorySeriesProgress()

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
