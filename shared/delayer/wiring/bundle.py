"""The bundle of ports, and the settings, that the factories take."""

from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from delayer.core.api.quota import Limits
from delayer.core.recovery.dead_letter import Contents
from delayer.core.schedule.instants import Millis
from delayer.ports.actions import Actions as ActionRows
from delayer.ports.clock import Background, Clock, Meeting, Parallel
from delayer.ports.connections import Connections
from delayer.ports.consumers import Consumers
from delayer.ports.control import Control
from delayer.ports.dead_letter_store import DeadLetterStore
from delayer.ports.flow import Blocks
from delayer.ports.function import Function
from delayer.ports.jobs import Jobs
from delayer.ports.journal import Journal
from delayer.ports.ledger import Ledger, LedgerInBatches
from delayer.ports.lines import Lines
from delayer.ports.live_count import LiveCount
from delayer.ports.observer import Observer
from delayer.ports.owner_claim import KeepsOwnerClaim
from delayer.ports.owner_policies import KnowsOwnerPolicies, OwnerPolicies
from delayer.ports.queue import Queue, SendsMessages
from delayer.ports.rate_limit import RateLimit
from delayer.ports.registry import Registry
from delayer.ports.schedule_table import Records, ScheduleTable
from delayer.ports.secrets import Secrets
from delayer.ports.series import SeriesTable
from delayer.ports.series_upkeep import SeriesProgress, SeriesUpkeep
from delayer.ports.signing import SigningRows
from delayer.ports.stream_consumer import StreamConsumer
from delayer.ports.tokens import Seal, TokenRows
from delayer.ports.topic import Topic
from delayer.ports.trials import Trials
from delayer.ports.waiting_table import FindsWaiting
from delayer.use_cases.actions.registered import RegisteredActions
from delayer.use_cases.flow.slots import Slots
from delayer.use_cases.limits.seats import Seats


class Settings(Protocol):
    """What the template sets."""

    @property
    def period(self) -> Millis:
        """The delayer period."""

    @property
    def lease(self) -> Millis:
        """How long a claim says that its function may still be at work."""

    @property
    def lead(self) -> Millis:
        """How long before its point in time a schedule may be handed over."""

    @property
    def shards(self) -> int:
        """How many shards a writer spreads over."""

    @property
    def limits(self) -> Limits:
        """The quotas of each owner."""

    @property
    def max_live(self) -> int:
        """The quota of live schedules, which the journal counts."""

    @property
    def backlog_mark(self) -> int:
        """How many visible messages in the delayer queue are a backlog."""

    @property
    def heartbeats(self) -> int:
        """How many with a lane each tick sends."""

    @property
    def suspects(self) -> str:
        """The name of the queue of suspects, from which this function is given messages, too."""

    @property
    def stack(self) -> str:
        """The name of the stack."""

    @property
    def stack_id(self) -> str:
        """The ARN of Delayer's own stack."""

    @property
    def keep_for(self) -> Millis:
        """How long a history is kept."""

    @property
    def event_source(self) -> str:
        """Names this stack in its events."""

    @property
    def has_events(self) -> bool:
        """Whether lifecycle events are published."""

    @property
    def has_journal(self) -> bool:
        """Whether the journal is switched on."""

    @property
    def has_canary(self) -> bool:
        """Whether each tick schedules a canary."""

    @property
    def policies(self) -> Collection[str]:
        """The names of the policies that the stack has."""


class Bundle(Protocol):
    """Whatever a use case may need. Each part is made on first use: a function makes only what it uses."""

    @property
    def settings(self) -> Settings:
        """What the template sets."""

    @property
    def source(self) -> str:
        """The name of the function."""

    @property
    def clock(self) -> Clock:
        """The time."""

    @property
    def parallel(self) -> Parallel:
        """Threads."""

    @property
    def background(self) -> Background:
        """A thread for each."""

    @property
    def new_meeting(self) -> Callable[[], Meeting]:
        """A lock within which threads wait for each other."""

    @property
    def slots(self) -> Slots:
        """The attempts that are under way."""

    @property
    def seats(self) -> Seats:
        """Those of limits of concurrency that this environment has."""

    @property
    def observer(self) -> Observer:
        """Logs and metrics."""

    @property
    def schedules(self) -> ScheduleTable:
        """The schedules table."""

    @property
    def records(self) -> Records:
        """The records of all lanes, for use cases that meet any id."""

    @property
    def timed_records(self) -> Records:
        """The same, for use cases that meet nothing which waits for its time."""

    @property
    def waiting_records(self) -> ScheduleTable:
        """The records of what waits for its time, for use cases that meet nothing else."""

    @property
    def waiting(self) -> FindsWaiting:
        """What waits for its time."""

    @property
    def ledger(self) -> Ledger:
        """The ledger."""

    @property
    def ledger_in_batches(self) -> LedgerInBatches:
        """The same, for those who change and read many rows at a time."""

    @property
    def control(self) -> Control:
        """The control rows."""

    @property
    def signing_rows(self) -> SigningRows:
        """The control rows of signatures."""

    @property
    def trials(self) -> Trials:
        """The control rows of suspects."""

    @property
    def lines(self) -> Lines:
        """The turns that are booked on limits."""

    @property
    def blocks(self) -> Blocks:
        """What waits although it is due: suspensions and circuits."""

    @property
    def stream_consumer(self) -> StreamConsumer:
        """The function that handles the stream of the schedules table."""

    @property
    def consumers(self) -> Consumers:
        """The functions that handle suspects."""

    @property
    def registry(self) -> Registry:
        """Names, groups, idempotency keys."""

    @property
    def series(self) -> SeriesTable:
        """Series: their cursors and definitions, and which occurrences are current."""

    @property
    def series_upkeep(self) -> SeriesUpkeep:
        """What keeps series going without an event: the lists of the net, and the directories."""

    @property
    def series_progress(self) -> SeriesProgress:
        """How far these were gone through."""

    @property
    def connections(self) -> Connections:
        """Connections: all but their values."""

    @property
    def secrets(self) -> Secrets:
        """The values of connections."""

    @property
    def token_rows(self) -> TokenRows:
        """The tokens of connections."""

    @property
    def seal(self) -> Seal:
        """What seals them."""

    @property
    def jobs(self) -> Jobs:
        """The jobs."""

    @property
    def journal(self) -> Journal:
        """The journal, for use cases that need it."""

    @property
    def fail_fast_journal(self) -> Journal:
        """The journal, for use cases that can do without it: a call that takes long is given up early."""

    @property
    def rate_limit(self) -> RateLimit:
        """How much an owner creates."""

    @property
    def live_count(self) -> LiveCount:
        """How many schedules of an owner are live, for the use case that writes it."""

    @property
    def fail_fast_live_count(self) -> LiveCount:
        """The same, for use cases that can do without it: a call that takes long is given up early."""

    @property
    def topic(self) -> Topic:
        """The topic of lifecycle events."""

    @property
    def dead_letter_store(self) -> DeadLetterStore:
        """Where dead letters are stored."""

    @property
    def delayer_queue(self) -> Queue:
        """The delayer queue."""

    @property
    def sweep_queue(self) -> Queue:
        """Big buckets."""

    @property
    def group_queue(self) -> Queue:
        """Jobs."""

    @property
    def own_queue(self) -> Queue:
        """The queue of the action that an executor does."""

    @property
    def action_rows(self) -> ActionRows:
        """The rows of the registered action types."""

    @property
    def actions(self) -> RegisteredActions:
        """The registered action types, as they are known."""

    @property
    def owner_policy_rows(self) -> OwnerPolicies:
        """The rows of the owner policies."""

    @property
    def owner_policies(self) -> KnowsOwnerPolicies:
        """What counts for each owner, as it is known."""

    @property
    def owner_claim(self) -> KeepsOwnerClaim:
        """By which claim of a token owners are named."""

    @property
    def executor_queues(self) -> Mapping[str, SendsMessages]:
        """The queue of each action type."""

    @property
    def policy_queues(self) -> Mapping[str, SendsMessages]:
        """The queue of each policy."""

    @property
    def function_at(self) -> Callable[[str], Function]:
        """A function of another stack, by its ARN."""

    @property
    def executor_remote(self) -> Function:
        """The function that invokes those of other stacks."""

    @property
    def read_dead_letter(self) -> Callable[[bytes], Contents]:
        """Finds the schedules in an object of the dead-letter store."""

    @property
    def randomness(self) -> Callable[[int], bytes]:
        """N secure random bytes."""

    @property
    def pick(self) -> Callable[[int], int]:
        """A number below n."""

    @property
    def new_token(self) -> Callable[[], str]:
        """A fresh nonce or fencing token."""

    @property
    def new_job_id(self) -> Callable[[], str]:
        """A fresh id of a job."""

    @property
    def new_series_id(self) -> Callable[[], str]:
        """A fresh id of a series."""
