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
    from delayer.aws.connections.table import DynamoConnections
    from delayer.aws.connections.tokens import DynamoTokens
    from delayer.aws.deployment.actions import DynamoActions
    from delayer.aws.dynamodb.batches.ledger import DynamoLedgerInBatches
    from delayer.aws.dynamodb.control import DynamoControl
    from delayer.aws.dynamodb.jobs import DynamoJobs
    from delayer.aws.dynamodb.journal import DynamoJournal
    from delayer.aws.dynamodb.ledger import DynamoLedger
    from delayer.aws.dynamodb.live_count import DynamoLiveCount
    from delayer.aws.dynamodb.rate_limit import DynamoRateLimit
    from delayer.aws.dynamodb.registry import DynamoRegistry
    from delayer.aws.dynamodb.schedule_table import DynamoScheduleTable
    from delayer.aws.dynamodb.trials import DynamoTrials
    from delayer.aws.flow.blocks import DynamoBlocks
    from delayer.aws.flow.lines import DynamoLines
    from delayer.aws.lanes.records import DynamoRecords
    from delayer.aws.lanes.waiting_table import DynamoWaitingTable
    from delayer.aws.messaging.consumers import LambdaConsumers
    from delayer.aws.messaging.dead_letter_store import S3DeadLetterStore
    from delayer.aws.messaging.function import LambdaFunction
    from delayer.aws.messaging.queue import SqsQueue
    from delayer.aws.messaging.stream_consumer import LambdaStreamConsumer
    from delayer.aws.messaging.topic import SnsTopic
    from delayer.aws.owners.owner_claim import DynamoOwnerClaim
    from delayer.aws.owners.owner_policies import DynamoOwnerPolicies
    from delayer.aws.series.progress import DynamoSeriesProgress
    from delayer.aws.series.series_table import DynamoSeries
    from delayer.aws.series.upkeep import DynamoSeriesUpkeep
    from delayer.aws.signing.rows import DynamoSigningRows
    from delayer.core.api.quota import Limits
    from delayer.core.recovery.dead_letter import Contents
    from delayer.ports.observer import Metric
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
    def slots(self) -> "Slots":
        from delayer.use_cases.flow.slots import Slots

        return Slots(clock=self.clock)

    @cached_property
    def seats(self) -> "Seats":
        from delayer.aws.flow.seats import DynamoSeats
        from delayer.use_cases.limits.seats import Seats

        rows = DynamoSeats(dynamodb=client("dynamodb"), table=setting("REGISTRY_TABLE"))
        return Seats(clock=self.clock, rows=rows, new_id=self.new_token, observer=self.observer)

    # ------------------------------------------------------------ tables

    @cached_property
    def schedules(self) -> "DynamoScheduleTable":
        from delayer.aws.dynamodb.schedule_table import DynamoScheduleTable

        return DynamoScheduleTable(dynamodb=client("dynamodb"), table=setting("SCHEDULES_TABLE"))

    @cached_property
    def records(self) -> "DynamoRecords":
        from delayer.aws.lanes.records import DynamoRecords

        return DynamoRecords(
            dynamodb=client("dynamodb"),
            schedules_table=setting("SCHEDULES_TABLE"),
            relaxed_table=setting("RELAXED_TABLE"),
            waiting_table=setting("WAITING_TABLE"),
        )

    @cached_property
    def timed_records(self) -> "DynamoRecords":
        from delayer.aws.lanes.records import DynamoRecords

        return DynamoRecords(
            dynamodb=client("dynamodb"),
            schedules_table=setting("SCHEDULES_TABLE"),
            relaxed_table=setting("RELAXED_TABLE"),
            waiting_table=setting("SCHEDULES_TABLE"),  # who uses this meets nothing that waits
        )

    @cached_property
    def waiting_records(self) -> "DynamoScheduleTable":
        from delayer.aws.dynamodb.schedule_table import DynamoScheduleTable

        return DynamoScheduleTable(dynamodb=client("dynamodb"), table=setting("WAITING_TABLE"))

    @cached_property
    def waiting(self) -> "DynamoWaitingTable":
        from delayer.aws.lanes.waiting_table import DynamoWaitingTable

        return DynamoWaitingTable(dynamodb=client("dynamodb"), table=setting("WAITING_TABLE"))

    @cached_property
    def ledger(self) -> "DynamoLedger":
        from delayer.aws.dynamodb.ledger import DynamoLedger

        return DynamoLedger(dynamodb=client("dynamodb"), table=setting("LEDGER_TABLE"), parallel=self.parallel)

    @cached_property
    def ledger_in_batches(self) -> "DynamoLedgerInBatches":
        from delayer.aws.dynamodb.batches.ledger import DynamoLedgerInBatches

        return DynamoLedgerInBatches(dynamodb=client("dynamodb"), table=setting("LEDGER_TABLE"), parallel=self.parallel)

    @cached_property
    def control(self) -> "DynamoControl":
        from delayer.aws.dynamodb.control import DynamoControl

        return DynamoControl(dynamodb=client("dynamodb"), table=setting("CONTROL_TABLE"))

    @cached_property
    def signing_rows(self) -> "DynamoSigningRows":
        from delayer.aws.signing.rows import DynamoSigningRows

        return DynamoSigningRows(dynamodb=client("dynamodb"), table=setting("CONTROL_TABLE"))

    @cached_property
    def trials(self) -> "DynamoTrials":
        from delayer.aws.dynamodb.trials import DynamoTrials

        return DynamoTrials(dynamodb=client("dynamodb"), table=setting("CONTROL_TABLE"))

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
    def registry(self) -> "DynamoRegistry":
        from delayer.aws.dynamodb.registry import DynamoRegistry

        return DynamoRegistry(
            dynamodb=client("dynamodb"),
            schedules_table=setting("SCHEDULES_TABLE"),
            relaxed_table=setting("RELAXED_TABLE"),
            waiting_table=setting("WAITING_TABLE"),
            ledger_table=setting("LEDGER_TABLE"),
            registry_table=setting("REGISTRY_TABLE"),
        )

    @cached_property
    def series(self) -> "DynamoSeries":
        from delayer.aws.series.series_table import DynamoSeries

        return DynamoSeries(
            dynamodb=client("dynamodb"),
            schedules_table=setting("SCHEDULES_TABLE"),
            relaxed_table=setting("RELAXED_TABLE"),
            ledger_table=setting("LEDGER_TABLE"),
            registry_table=setting("REGISTRY_TABLE"),
        )

    @cached_property
    def series_upkeep(self) -> "DynamoSeriesUpkeep":
        from delayer.aws.series.upkeep import DynamoSeriesUpkeep

        return DynamoSeriesUpkeep(dynamodb=client("dynamodb"), table=setting("REGISTRY_TABLE"))

    @cached_property
    def series_progress(self) -> "DynamoSeriesProgress":
        from delayer.aws.series.progress import DynamoSeriesProgress

        return DynamoSeriesProgress(dynamodb=client("dynamodb"), table=setting("CONTROL_TABLE"))

    @cached_property
    def jobs(self) -> "DynamoJobs":
        from delayer.aws.dynamodb.jobs import DynamoJobs

        return DynamoJobs(dynamodb=client("dynamodb"), table=setting("REGISTRY_TABLE"))

    @cached_property
    def blocks(self) -> "DynamoBlocks":
        from delayer.aws.flow.blocks import DynamoBlocks

        return DynamoBlocks(dynamodb=client("dynamodb"), table=setting("REGISTRY_TABLE"))

    @cached_property
    def lines(self) -> "DynamoLines":
        from delayer.aws.flow.lines import DynamoLines

        return DynamoLines(dynamodb=client("dynamodb"), table=setting("REGISTRY_TABLE"))

    @cached_property
    def rate_limit(self) -> "DynamoRateLimit":
        from delayer.aws.dynamodb.rate_limit import DynamoRateLimit

        return DynamoRateLimit(dynamodb=client("dynamodb"), table=setting("REGISTRY_TABLE"))

    @cached_property
    def journal(self) -> "DynamoJournal":
        from delayer.aws.dynamodb.journal import DynamoJournal

        return DynamoJournal(dynamodb=client("dynamodb"), table=setting("JOURNAL_TABLE"), parallel=self.parallel)

    @cached_property
    def fail_fast_journal(self) -> "DynamoJournal":
        from delayer.aws.dynamodb.journal import DynamoJournal

        return DynamoJournal(dynamodb=fail_fast_dynamodb(), table=setting("JOURNAL_TABLE"), parallel=self.parallel)

    @cached_property
    def live_count(self) -> "DynamoLiveCount":
        from delayer.aws.dynamodb.live_count import DynamoLiveCount

        return DynamoLiveCount(dynamodb=client("dynamodb"), table=setting("JOURNAL_TABLE"))

    @cached_property
    def fail_fast_live_count(self) -> "DynamoLiveCount":
        """A second client costs a cold start some milliseconds; without a limit it is not made."""
        from delayer.aws.dynamodb.live_count import DynamoLiveCount

        dynamodb = fail_fast_dynamodb() if self.settings.max_live else client("dynamodb")
        return DynamoLiveCount(dynamodb=dynamodb, table=setting("JOURNAL_TABLE"))

    @cached_property
    def action_rows(self) -> "DynamoActions":
        from delayer.aws.deployment.actions import DynamoActions

        return DynamoActions(dynamodb=client("dynamodb"), table=setting("CONTROL_TABLE"))

    @cached_property
    def actions(self) -> "RegisteredActions":
        from delayer.use_cases.actions.registered import RegisteredActions

        return RegisteredActions(clock=self.clock, store=self.action_rows)

    @cached_property
    def owner_policy_rows(self) -> "DynamoOwnerPolicies":
        from delayer.aws.owners.owner_policies import DynamoOwnerPolicies

        return DynamoOwnerPolicies(dynamodb=client("dynamodb"), table=setting("CONTROL_TABLE"))

    @cached_property
    def owner_policies(self) -> "KnownOwnerPolicies":
        from delayer.use_cases.owners.known import KnownOwnerPolicies

        return KnownOwnerPolicies(clock=self.clock, store=self.owner_policy_rows)

    @cached_property
    def owner_claim(self) -> "DynamoOwnerClaim":
        from delayer.aws.owners.owner_claim import DynamoOwnerClaim

        return DynamoOwnerClaim(dynamodb=client("dynamodb"), table=setting("CONTROL_TABLE"))

    # ------------------------------------------------------------ connections

    @cached_property
    def connections(self) -> "DynamoConnections":
        from delayer.aws.connections.table import DynamoConnections

        return DynamoConnections(dynamodb=client("dynamodb"), table=setting("REGISTRY_TABLE"))

    @cached_property
    def token_rows(self) -> "DynamoTokens":
        from delayer.aws.connections.tokens import DynamoTokens

        return DynamoTokens(dynamodb=client("dynamodb"), table=setting("REGISTRY_TABLE"))

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
    def dead_letter_store(self) -> "S3DeadLetterStore":
        from delayer.aws.messaging.dead_letter_store import S3DeadLetterStore

        return S3DeadLetterStore(s3=client("s3"), bucket=setting("DEAD_LETTER_BUCKET"))

    @cached_property
    def read_dead_letter(self) -> "Callable[[bytes], Contents]":
        from delayer.aws.messaging.dead_letter_reader import schedules_in

        return schedules_in
