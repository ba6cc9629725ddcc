"""The bundle of a Lambda function: AWS's adapters, from the environment variables that the template sets.

Each is made on first use. The adapters, too, are imported by the part that makes them.
"""

import secrets
from collections.abc import Callable, Collection
from functools import cache, cached_property
from threading import Condition
from typing import TYPE_CHECKING

from delayer.aws.runtime.clients import client, fail_fast_dynamodb, lambda_for_suspects, waiting_lambda
from delayer.aws.runtime.deadline import DEADLINE
from delayer.aws.runtime.environment import Started, SystemClock, Threads, number, random_token, setting
from delayer.aws.runtime.telemetry import Telemetry
from delayer.core.firing.sweeping import BACKLOG_PER_RELAY
from delayer.core.schedule.instants import DAY, SECOND, Millis

if TYPE_CHECKING:
    from delayer.aws.connections.sealing import AesGcm
    from delayer.aws.connections.secrets import SecretsManager
    from delayer.aws.messaging.consumers import LambdaConsumers
    from delayer.aws.messaging.function import LambdaFunction
    from delayer.aws.messaging.objects import S3Objects
    from delayer.aws.messaging.queue import SqsQueue
    from delayer.aws.messaging.stream_consumer import LambdaStreamConsumer
    from delayer.aws.messaging.topic import SnsTopic
    from delayer.aws.store.dynamo_store import DynamoStore
    from delayer.core.api.quota import Limits
    from delayer.core.recovery.dead_letter import Contents
    from delayer.ports.observer import Metric
    from delayer.repositories.connections.connections import StoredConnections
    from delayer.repositories.connections.tokens import StoredTokens
    from delayer.repositories.control.actions import StoredActions
    from delayer.repositories.control.control import StoredControl
    from delayer.repositories.control.owner_claim import StoredOwnerClaim
    from delayer.repositories.control.owner_policies import StoredOwnerPolicies
    from delayer.repositories.control.signing_rows import StoredSigningRows
    from delayer.repositories.control.trials import StoredTrials
    from delayer.repositories.dead_letters import StoredDeadLetters
    from delayer.repositories.flow.blocks import StoredBlocks
    from delayer.repositories.flow.lines import StoredLines
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
    from delayer.use_cases.actions.executor_queues import ExecutorQueues
    from delayer.use_cases.actions.registered import RegisteredActions
    from delayer.use_cases.flow.slots import Slots
    from delayer.use_cases.limits.seats import Seats
    from delayer.use_cases.owners.known import KnownOwnerPolicies
    from delayer.use_cases.timing.ask import PolicyQueues


@cache
def queue_at(url: str) -> "SqsQueue":
    """Made once for each queue."""
    from delayer.aws.messaging.queue import SqsQueue

    return SqsQueue(sqs=client("sqs"), url=url)


def policy_queue(name: str, beside: str, stack_id: str) -> str:
    """The URL of the queue of a policy, as the template names it. `beside` is the URL of another of the stack."""
    _, stack, unique = stack_id.split("/")
    return f"{beside.rpartition('/')[0]}/{stack}-policy-{name}-{unique.partition('-')[0]}"


class EnvironmentSettings:
    """The settings among the environment variables."""

    @property
    def period(self) -> Millis:
        return number("DELAYER_PERIOD") * SECOND

    @property
    def lease(self) -> Millis:
        return number("LEASE") * SECOND

    @property
    def lead(self) -> Millis:
        return number("HANDOVER_LEAD")

    @property
    def shards(self) -> int:
        return number("SHARDS")

    @cached_property
    def limits(self) -> "Limits":
        from delayer.core.api.quota import Limits

        return Limits(
            creates_per_second=number("MAX_CREATES_PER_SECOND"),
            creates_per_minute=number("MAX_CREATES_PER_MINUTE"),
            live=self.max_live,
        )

    @property
    def max_live(self) -> int:
        return number("MAX_LIVE_SCHEDULES")

    @property
    def backlog_mark(self) -> int:
        return number("RELAY_CONCURRENCY") * BACKLOG_PER_RELAY

    @property
    def heartbeats(self) -> int:
        return number("HEARTBEATS")

    @property
    def suspects(self) -> str:
        return setting("SUSPECTS_QUEUE")

    @property
    def stack(self) -> str:
        return setting("STACK")

    @property
    def stack_id(self) -> str:
        return setting("STACK_ID")

    @property
    def keep_for(self) -> Millis:
        return number("JOURNAL_DAYS") * DAY

    @property
    def event_source(self) -> str:
        return setting("EVENT_SOURCE")

    @property
    def has_events(self) -> bool:
        return setting("LIFECYCLE") != "off"

    @property
    def has_journal(self) -> bool:
        return setting("LIFECYCLE") == "journal"

    @property
    def has_canary(self) -> bool:
        return setting("CANARY") == "on"

    @property
    def policies(self) -> tuple[str, ...]:
        return tuple(name for name in setting("POLICIES").split(",") if name)


class Environment:
    """The bundle of the function of this name. With `metrics`, it writes these metrics and no others."""

    def __init__(self, function: str, metrics: "Collection[Metric] | None" = None) -> None:
        self.source = function
        self.observer = Telemetry(function, metrics)
        self.clock = SystemClock()
        self.parallel = Threads()
        self.background = Started()
        self.new_meeting = Condition
        self.settings = EnvironmentSettings()
        self.randomness: Callable[[int], bytes] = secrets.token_bytes
        self.pick: Callable[[int], int] = secrets.randbelow
        self.new_token: Callable[[], str] = random_token
        self.new_job_id: Callable[[], str] = lambda: secrets.token_hex(16)
        self.new_series_id: Callable[[], str] = lambda: secrets.token_hex(16)

    @cached_property
    def store(self) -> "DynamoStore":
        from delayer.aws.store.dynamo_store import DynamoStore

        return DynamoStore(client("dynamodb"))

    @cached_property
    def fail_fast_store(self) -> "DynamoStore":
        """A second client costs a cold start some milliseconds: it is made where somebody needs it."""
        from delayer.aws.store.dynamo_store import DynamoStore

        return DynamoStore(fail_fast_dynamodb())

    @cached_property
    def slots(self) -> "Slots":
        from delayer.use_cases.flow.slots import Slots

        return Slots(clock=self.clock)

    @cached_property
    def seats(self) -> "Seats":
        from delayer.repositories.flow.seats import StoredSeats
        from delayer.use_cases.limits.seats import Seats

        rows = StoredSeats(store=self.store, table=setting("REGISTRY_TABLE"))
        return Seats(clock=self.clock, rows=rows, new_id=self.new_token, observer=self.observer)

    # ------------------------------------------------------------ tables

    @cached_property
    def schedules(self) -> "StoredScheduleTable":
        from delayer.repositories.schedules.schedule_table import StoredScheduleTable

        return StoredScheduleTable(store=self.store, table=setting("SCHEDULES_TABLE"))

    @cached_property
    def records(self) -> "StoredRecords":
        from delayer.repositories.schedules.records import StoredRecords

        return StoredRecords(
            store=self.store,
            schedules_table=setting("SCHEDULES_TABLE"),
            relaxed_table=setting("RELAXED_TABLE"),
            waiting_table=setting("WAITING_TABLE"),
        )

    @cached_property
    def timed_records(self) -> "StoredRecords":
        from delayer.repositories.schedules.records import StoredRecords

        return StoredRecords(
            store=self.store,
            schedules_table=setting("SCHEDULES_TABLE"),
            relaxed_table=setting("RELAXED_TABLE"),
            waiting_table=setting("SCHEDULES_TABLE"),  # who uses this meets nothing that waits
        )

    @cached_property
    def waiting_records(self) -> "StoredScheduleTable":
        from delayer.repositories.schedules.schedule_table import StoredScheduleTable

        return StoredScheduleTable(store=self.store, table=setting("WAITING_TABLE"))

    @cached_property
    def waiting(self) -> "StoredWaitingTable":
        from delayer.repositories.schedules.waiting_table import StoredWaitingTable

        return StoredWaitingTable(store=self.store, table=setting("WAITING_TABLE"))

    @cached_property
    def ledger(self) -> "StoredLedger":
        from delayer.repositories.ledger.ledger import StoredLedger

        return StoredLedger(store=self.store, table=setting("LEDGER_TABLE"), parallel=self.parallel)

    @cached_property
    def ledger_in_batches(self) -> "StoredLedgerInBatches":
        from delayer.repositories.ledger.in_batches import StoredLedgerInBatches

        return StoredLedgerInBatches(store=self.store, table=setting("LEDGER_TABLE"), parallel=self.parallel)

    @cached_property
    def control(self) -> "StoredControl":
        from delayer.repositories.control.control import StoredControl

        return StoredControl(store=self.store, table=setting("CONTROL_TABLE"))

    @cached_property
    def signing_rows(self) -> "StoredSigningRows":
        from delayer.repositories.control.signing_rows import StoredSigningRows

        return StoredSigningRows(store=self.store, table=setting("CONTROL_TABLE"))

    @cached_property
    def trials(self) -> "StoredTrials":
        from delayer.repositories.control.trials import StoredTrials

        return StoredTrials(store=self.store, table=setting("CONTROL_TABLE"))

    @cached_property
    def stream_consumer(self) -> "LambdaStreamConsumer":
        from delayer.aws.messaging.stream_consumer import LambdaStreamConsumer

        return LambdaStreamConsumer(
            lambda_=client("lambda"), function=setting("STREAM_ENQUEUER"), relaxed=setting("RELAXED_CLAIMER")
        )

    @cached_property
    def consumers(self) -> "LambdaConsumers":
        from delayer.aws.messaging.consumers import LambdaConsumers

        DEADLINE.share = 1
        return LambdaConsumers(lambda_=lambda_for_suspects(), stack=self.settings.stack)

    @cached_property
    def registry(self) -> "StoredRegistry":
        from delayer.repositories.registry.registry import StoredRegistry

        return StoredRegistry(
            store=self.store,
            schedules_table=setting("SCHEDULES_TABLE"),
            relaxed_table=setting("RELAXED_TABLE"),
            waiting_table=setting("WAITING_TABLE"),
            ledger_table=setting("LEDGER_TABLE"),
            registry_table=setting("REGISTRY_TABLE"),
        )

    @cached_property
    def series(self) -> "StoredSeries":
        from delayer.repositories.series.series_table import StoredSeries

        return StoredSeries(
            store=self.store,
            schedules_table=setting("SCHEDULES_TABLE"),
            relaxed_table=setting("RELAXED_TABLE"),
            ledger_table=setting("LEDGER_TABLE"),
            registry_table=setting("REGISTRY_TABLE"),
        )

    @cached_property
    def series_upkeep(self) -> "StoredSeriesUpkeep":
        from delayer.repositories.series.upkeep import StoredSeriesUpkeep

        return StoredSeriesUpkeep(store=self.store, table=setting("REGISTRY_TABLE"))

    @cached_property
    def series_progress(self) -> "StoredSeriesProgress":
        from delayer.repositories.series.progress import StoredSeriesProgress

        return StoredSeriesProgress(store=self.store, table=setting("CONTROL_TABLE"))

    @cached_property
    def jobs(self) -> "StoredJobs":
        from delayer.repositories.registry.jobs import StoredJobs

        return StoredJobs(store=self.store, table=setting("REGISTRY_TABLE"))

    @cached_property
    def blocks(self) -> "StoredBlocks":
        from delayer.repositories.flow.blocks import StoredBlocks

        return StoredBlocks(store=self.store, table=setting("REGISTRY_TABLE"))

    @cached_property
    def lines(self) -> "StoredLines":
        from delayer.repositories.flow.lines import StoredLines

        return StoredLines(store=self.store, table=setting("REGISTRY_TABLE"))

    @cached_property
    def rate_limit(self) -> "StoredRateLimit":
        from delayer.repositories.registry.rate_limit import StoredRateLimit

        return StoredRateLimit(store=self.store, table=setting("REGISTRY_TABLE"))

    @cached_property
    def journal(self) -> "StoredJournal":
        from delayer.repositories.journal.journal import StoredJournal

        return StoredJournal(store=self.store, table=setting("JOURNAL_TABLE"), parallel=self.parallel)

    @cached_property
    def fail_fast_journal(self) -> "StoredJournal":
        from delayer.repositories.journal.journal import StoredJournal

        return StoredJournal(store=self.fail_fast_store, table=setting("JOURNAL_TABLE"), parallel=self.parallel)

    @cached_property
    def live_count(self) -> "StoredLiveCount":
        from delayer.repositories.journal.live_count import StoredLiveCount

        return StoredLiveCount(store=self.store, table=setting("JOURNAL_TABLE"))

    @cached_property
    def fail_fast_live_count(self) -> "StoredLiveCount":
        """The second client is not made without a limit."""
        from delayer.repositories.journal.live_count import StoredLiveCount

        store = self.fail_fast_store if self.settings.max_live else self.store
        return StoredLiveCount(store=store, table=setting("JOURNAL_TABLE"))

    @cached_property
    def action_rows(self) -> "StoredActions":
        from delayer.repositories.control.actions import StoredActions

        return StoredActions(store=self.store, table=setting("CONTROL_TABLE"))

    @cached_property
    def actions(self) -> "RegisteredActions":
        from delayer.use_cases.actions.registered import RegisteredActions

        return RegisteredActions(clock=self.clock, store=self.action_rows)

    @cached_property
    def owner_policy_rows(self) -> "StoredOwnerPolicies":
        from delayer.repositories.control.owner_policies import StoredOwnerPolicies

        return StoredOwnerPolicies(store=self.store, table=setting("CONTROL_TABLE"))

    @cached_property
    def owner_policies(self) -> "KnownOwnerPolicies":
        from delayer.use_cases.owners.known import KnownOwnerPolicies

        return KnownOwnerPolicies(clock=self.clock, store=self.owner_policy_rows)

    @cached_property
    def owner_claim(self) -> "StoredOwnerClaim":
        from delayer.repositories.control.owner_claim import StoredOwnerClaim

        return StoredOwnerClaim(store=self.store, table=setting("CONTROL_TABLE"))

    # ------------------------------------------------------------ connections

    @cached_property
    def connections(self) -> "StoredConnections":
        from delayer.repositories.connections.connections import StoredConnections

        return StoredConnections(store=self.store, table=setting("REGISTRY_TABLE"))

    @cached_property
    def token_rows(self) -> "StoredTokens":
        from delayer.repositories.connections.tokens import StoredTokens

        return StoredTokens(store=self.store, table=setting("REGISTRY_TABLE"))

    @cached_property
    def secrets(self) -> "SecretsManager":
        from delayer.aws.connections.secrets import SecretsManager

        return SecretsManager(secretsmanager=client("secretsmanager"), prefix=f"{setting('STACK')}/connections")

    @cached_property
    def seal(self) -> "AesGcm":
        from delayer.aws.connections.sealing import AesGcm
        from delayer.aws.connections.secrets import secret_name
        from delayer.core.schedule.schedule import SYSTEM_OWNER
        from delayer.ports.secrets import TOKEN_KEY

        key = secret_name(f"{setting('STACK')}/connections", SYSTEM_OWNER, TOKEN_KEY)
        return AesGcm(secretsmanager=client("secretsmanager"), key=key)

    # ------------------------------------------------------------ queues, the topic, the store

    @cached_property
    def delayer_queue(self) -> "SqsQueue":
        return self._queue("DELAYER_QUEUE")

    @cached_property
    def sweep_queue(self) -> "SqsQueue":
        return self._queue("SWEEP_QUEUE")

    @cached_property
    def group_queue(self) -> "SqsQueue":
        return self._queue("GROUP_QUEUE")

    @cached_property
    def own_queue(self) -> "SqsQueue":
        return self._queue("OWN_QUEUE")

    @cached_property
    def executor_queues(self) -> "ExecutorQueues":
        from delayer.use_cases.actions.executor_queues import ExecutorQueues

        return ExecutorQueues(actions=self.actions, remote=setting("REMOTE_QUEUE"), queue_at=queue_at)

    @cached_property
    def policy_queues(self) -> "PolicyQueues":
        """Their names have the policy in them, so that no function needs a list of them in its environment."""
        from delayer.use_cases.timing.ask import PolicyQueues

        beside, stack = setting("TIMING_DEAD_LETTERS"), setting("STACK_ID")
        return PolicyQueues(
            policies=self.settings.policies, queue_of=lambda name: queue_at(policy_queue(name, beside, stack))
        )

    def _queue(self, variable: str) -> "SqsQueue":
        return queue_at(setting(variable))

    @cached_property
    def function_at(self) -> "Callable[[str], LambdaFunction]":
        from delayer.aws.messaging.function import LambdaFunction

        lambda_ = waiting_lambda()
        return lambda arn: LambdaFunction(lambda_=lambda_, function=arn)

    @cached_property
    def executor_remote(self) -> "LambdaFunction":
        return self.function_at(setting("EXECUTOR_REMOTE"))

    @cached_property
    def topic(self) -> "SnsTopic":
        from delayer.aws.messaging.topic import SnsTopic

        return SnsTopic(sns=client("sns"), arn=setting("LIFECYCLE_TOPIC"))

    @cached_property
    def dead_letter_store(self) -> "StoredDeadLetters[S3Objects]":
        from delayer.aws.messaging.objects import S3Objects
        from delayer.repositories.dead_letters import StoredDeadLetters

        return StoredDeadLetters(S3Objects(s3=client("s3"), bucket=setting("DEAD_LETTER_BUCKET")))

    @cached_property
    def read_dead_letter(self) -> "Callable[[bytes], Contents]":
        from delayer.aws.messaging.dead_letter_reader import schedules_in

        return schedules_in
