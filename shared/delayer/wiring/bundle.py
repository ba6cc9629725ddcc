"""The ports of a function: each told once, with its name, its type, and how it is made.

A part is made when somebody asks for it: a function makes and imports what its use case needs, and no more (`build`).
`Environment` adds what every function has; `in_memory` has fakes in the place of what reaches AWS.
"""

from collections.abc import Callable, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final

from attrs import evolve

from delayer.wiring.build import build, built, held, stored

if TYPE_CHECKING:
    from delayer.accept.repository import StoredRegistry
    from delayer.accept.use_cases.cancel import Cancel
    from delayer.actions.registered import RegisteredActions
    from delayer.actions.repository import StoredActions
    from delayer.connections.ports import Seal
    from delayer.connections.repository import StoredConnections, StoredTokens
    from delayer.dead_letters.dead_letter import DeadLetters
    from delayer.dead_letters.model import Contents
    from delayer.dead_letters.ports import DeadLetterStore
    from delayer.engines.aws.messaging import SqsQueue
    from delayer.engines.ports import Clock, Function, Observer, Parallel, Queue, Secrets, Topic, Workers
    from delayer.engines.store.store import Store
    from delayer.enqueue.bring_back import BringBack
    from delayer.flow.repository import StoredBlocks, StoredLines, StoredSeats
    from delayer.history.repository import StoredJournal, StoredLiveCount
    from delayer.jobs.repository import StoredJobs
    from delayer.ledger.repository import StoredLedger, StoredLedgerInBatches
    from delayer.owners.known import KnownOwnerPolicies
    from delayer.owners.repository import StoredOwnerClaim, StoredOwnerPolicies, StoredRateLimit
    from delayer.records.repository import StoredControl, StoredRecords, StoredScheduleTable
    from delayer.recovery.canary import SendCanary
    from delayer.recovery.ports import Consumers, StreamConsumer
    from delayer.recovery.repository import StoredTrials
    from delayer.relay.relay import HandOver
    from delayer.series.repository.series_table import StoredSeries
    from delayer.series.repository.upkeep import StoredSeriesProgress, StoredSeriesUpkeep
    from delayer.series.rules.series import Rule, SeriesDefinition
    from delayer.series.use_cases.change import ChangeSeries
    from delayer.series.use_cases.halt import EndSeriesOfGroup
    from delayer.series.use_cases.step import StepSeries
    from delayer.series.use_cases.tick import Net, Renew
    from delayer.signing.repository import StoredSigningRows
    from delayer.timing.repository import StoredWaitingTable
    from delayer.wiring.settings import Settings


@cache
def queue_at(url: str) -> "SqsQueue":
    """Made once for each queue."""
    from delayer.engines.aws.clients import client
    from delayer.engines.aws.messaging import SqsQueue

    return SqsQueue(sqs=client("sqs"), url=url)


def policy_queue(name: str, beside: str, stack_id: str) -> str:
    """The URL of the queue of a policy, as the template names it. `beside` is the URL of another of the stack."""
    _, stack, unique = stack_id.split("/")
    return f"{beside.rpartition('/')[0]}/{stack}-policy-{name}-{unique.partition('-')[0]}"


class Bundle:
    """Everything that a use case may need."""

    source: str  # the name of the function
    settings: "Settings"
    observer: "Observer"  # logs and metrics
    clock: "Clock"
    parallel: "Parallel"  # threads
    randomness: "Callable[[int], bytes]"  # n secure random bytes
    pick: "Callable[[int], int]"  # a number below n
    new_token: "Callable[[], str]"  # a fresh nonce or fencing token
    new_job_id: "Callable[[], str]"
    new_series_id: "Callable[[], str]"

    @cached_property
    def workers(self) -> "Workers":
        """Threads for what may take its time."""
        from delayer.engines.workers import WorkerThreads

        return WorkerThreads()

    # ------------------------------------------------------------ the engine under the tables

    @cached_property
    def items(self) -> "Store":
        from delayer.engines.aws.clients import client
        from delayer.engines.aws.dynamo_store import DynamoStore

        return DynamoStore(client("dynamodb"))

    @cached_property
    def fail_fast_items(self) -> "Store":
        """A second client costs a cold start some milliseconds: it is made where somebody needs it."""
        from delayer.engines.aws.clients import fail_fast_dynamodb
        from delayer.engines.aws.dynamo_store import DynamoStore

        return DynamoStore(fail_fast_dynamodb())

    # ------------------------------------------------------------ schedules, series and jobs

    schedules: "StoredScheduleTable" = stored("delayer.records.repository", table="schedules_table")
    # Of what waits for its time, for use cases that meet nothing else.
    waiting_records: "StoredScheduleTable" = stored("delayer.records.repository", table="timing_table")

    @cached_property
    def optional_waiting(self) -> "StoredScheduleTable | None":
        """The same; None where the stack has no policies."""
        return self.waiting_records if self.settings.has_timing else None

    # Of all lanes, for use cases that meet any id.
    records: "StoredRecords" = stored("delayer.records.repository")
    # The same, for use cases that meet nothing which waits for its time, and are not told where that is.
    timed_records: "StoredRecords" = stored("delayer.records.repository", waiting_table="schedules_table")
    # Finds what waits for its time.
    undecided: "StoredWaitingTable" = stored("delayer.timing.repository", table="timing_table")
    ledger: "StoredLedger" = stored("delayer.ledger.repository", table="ledger_table")
    # The same, for those who change and read many rows at a time.
    ledger_in_batches: "StoredLedgerInBatches" = stored("delayer.ledger.repository", table="ledger_table")
    # Names, groups, idempotency keys.
    registry: "StoredRegistry" = stored("delayer.accept.repository")
    # Their cursors and definitions, and which occurrences are current.
    series: "StoredSeries" = stored("delayer.series.repository.series_table")
    # What keeps series going without an event, the lists of the net and the directories; and how far it has come.
    series_upkeep: "StoredSeriesUpkeep" = stored("delayer.series.repository.upkeep", table="registry_table")
    series_progress: "StoredSeriesProgress" = stored("delayer.series.repository.upkeep", table="control_table")
    rule_of: "Callable[[SeriesDefinition], Rule]" = held("delayer.series.rules.rules")
    tz_version: "Callable[[], str]" = held("delayer.recurrence.zones")
    jobs: "StoredJobs" = stored("delayer.jobs.repository", table="registry_table")

    # ------------------------------------------------------------ other rows of the registry, and of the control table

    # What waits although it is due: suspensions and circuits.
    blocks: "StoredBlocks" = stored("delayer.flow.repository", table="registry_table")
    # The turns that are booked on limits, and the seats.
    lines: "StoredLines" = stored("delayer.flow.repository", table="registry_table")
    seat_rows: "StoredSeats" = stored("delayer.flow.repository", table="registry_table")
    # How much an owner creates.
    rate_limit: "StoredRateLimit" = stored("delayer.owners.repository", table="registry_table")
    # All but their values, which `secrets` has.
    connections: "StoredConnections" = stored("delayer.connections.repository", table="registry_table")
    token_rows: "StoredTokens" = stored("delayer.connections.repository", table="registry_table")
    control: "StoredControl" = stored("delayer.records.repository", table="control_table")
    signing_rows: "StoredSigningRows" = stored("delayer.signing.repository", table="control_table")
    trials: "StoredTrials" = stored("delayer.recovery.repository", table="control_table")  # of suspects
    action_rows: "StoredActions" = stored("delayer.actions.repository", table="control_table")
    owner_policy_rows: "StoredOwnerPolicies" = stored("delayer.owners.repository", table="control_table")
    # By which claim of a token owners are named.
    owner_claim: "StoredOwnerClaim" = stored("delayer.owners.repository", table="control_table")

    # ------------------------------------------------------------ the journal

    journal: "StoredJournal" = stored("delayer.history.repository", table="journal_table")
    # A call that takes long is given up early.
    fail_fast_journal: "StoredJournal" = stored(
        "delayer.history.repository", store="fail_fast_items", table="journal_table"
    )
    # How many schedules of an owner are live, for the use case that writes it.
    live_count: "StoredLiveCount" = stored("delayer.history.repository", table="journal_table")

    @cached_property
    def fail_fast_live_count(self) -> "StoredLiveCount":
        """The same, for use cases that can do without it. The second client is not made without a limit."""
        return evolve(self.live_count, store=self.fail_fast_items) if self.settings.max_live else self.live_count

    @cached_property
    def listed_journal(self) -> "StoredJournal | None":
        """For use cases that need it; None where it is switched off."""
        return self.journal if self.settings.has_journal else None

    @cached_property
    def optional_journal(self) -> "StoredJournal | None":
        """For use cases that can do without it."""
        return self.fail_fast_journal if self.settings.has_journal else None

    # ------------------------------------------------------------ use cases that others hold by a port of theirs

    actions: "RegisteredActions" = built("delayer.actions.registered")  # the types, as they are known
    owner_policies: "KnownOwnerPolicies" = built("delayer.owners.known")  # what counts for each owner
    dead_letters: "DeadLetters" = built("delayer.dead_letters.dead_letter")
    bring_back: "BringBack" = built("delayer.enqueue.bring_back")
    firing: "HandOver" = built("delayer.relay.relay")
    end_series: "EndSeriesOfGroup" = built("delayer.series.use_cases.halt")
    change_series: "ChangeSeries" = built("delayer.series.use_cases.change")
    step_series: "StepSeries" = built("delayer.series.use_cases.step")
    net: "Net" = built("delayer.series.use_cases.tick")
    renew_series: "Renew" = built("delayer.series.use_cases.tick")

    @cached_property
    def cancel_of_series(self) -> "Cancel":
        """Cancels schedules of a series, after it has written its cursor."""
        from delayer.accept.use_cases.cancel import Cancel

        return build(Cancel, self, records=self.timed_records, forgotten=None)

    @cached_property
    def canary(self) -> "SendCanary | None":
        """Sends canaries: their ids are made as those of the API, and they spend no quota. None: they are off."""
        if not self.settings.has_canary:
            return None
        from delayer.accept.use_cases.issue import Ids
        from delayer.recovery.canary import SendCanary

        return build(SendCanary, self, ids=build(Ids, self))

    # ------------------------------------------------------------ queues

    @cached_property
    def delayer_queue(self) -> "Queue":
        return queue_at(self.settings.delayer_queue_url)

    @cached_property
    def sweep_queue(self) -> "Queue":
        """Big buckets."""
        return queue_at(self.settings.sweep_queue_url)

    @cached_property
    def group_queue(self) -> "Queue":
        """Jobs."""
        return queue_at(self.settings.group_queue_url)

    @cached_property
    def own_queue(self) -> "Queue":
        """Of the action that an executor does."""
        return queue_at(self.settings.own_queue_url)

    @cached_property
    def executor_queues(self) -> "Mapping[str, Queue]":
        """By action type."""
        from delayer.actions.registered import ExecutorQueues

        return ExecutorQueues(actions=self.actions, remote=self.settings.remote_queue_url, queue_at=queue_at)

    @cached_property
    def policy_queues(self) -> "Mapping[str, Queue]":
        """Their names have the policy in them, so that no function needs a list of them in its environment."""
        from delayer.timing.ask import PolicyQueues

        beside, stack = self.settings.timing_dead_letters_url, self.settings.stack_id
        return PolicyQueues(
            policies=self.settings.policies, queue_of=lambda name: queue_at(policy_queue(name, beside, stack))
        )

    # ------------------------------------------------------------ other functions, and other services

    @cached_property
    def stream_consumer(self) -> "StreamConsumer":
        """The function that handles the stream of the schedules table."""
        from delayer.engines.aws.clients import client
        from delayer.lambdas.consumers import LambdaStreamConsumer

        given = self.settings
        return LambdaStreamConsumer(
            lambda_=client("lambda"), function=given.stream_enqueuer, relaxed=given.relaxed_claimer
        )

    @cached_property
    def consumers(self) -> "Consumers":
        """The functions that handle suspects."""
        from delayer.engines.aws.bounded_calls import DEADLINE
        from delayer.engines.aws.clients import lambda_for_suspects
        from delayer.lambdas.consumers import LambdaConsumers

        DEADLINE.share = 1
        return LambdaConsumers(lambda_=lambda_for_suspects(), stack=self.settings.stack)

    @cached_property
    def function_at(self) -> "Callable[[str], Function]":
        """A function of another stack, by its ARN."""
        from delayer.engines.aws.clients import waiting_lambda
        from delayer.engines.aws.function import LambdaFunction

        lambda_ = waiting_lambda()
        return lambda arn: LambdaFunction(lambda_=lambda_, function=arn)

    @cached_property
    def executor_remote(self) -> "Function":
        """The function that invokes those of other stacks."""
        return self.function_at(self.settings.executor_remote_name)

    @cached_property
    def topic(self) -> "Topic":
        """Of lifecycle events."""
        from delayer.engines.aws.clients import client
        from delayer.engines.aws.messaging import SnsTopic

        return SnsTopic(sns=client("sns"), arn=self.settings.lifecycle_topic_arn)

    @cached_property
    def dead_letter_store(self) -> "DeadLetterStore":
        from delayer.dead_letters.repository import StoredDeadLetters
        from delayer.engines.aws.clients import client
        from delayer.engines.aws.objects import S3Objects

        return StoredDeadLetters(S3Objects(s3=client("s3"), bucket=self.settings.dead_letter_bucket))

    @cached_property
    def read_dead_letter(self) -> "Callable[[bytes], Contents]":
        """Finds the schedules in an object of the dead-letter store."""
        from delayer.lambdas.dead_letter_reader import schedules_in

        return schedules_in

    @cached_property
    def secrets(self) -> "Secrets":
        """The values of connections."""
        from delayer.engines.aws.clients import client
        from delayer.engines.aws.secrets import SecretsManager

        return SecretsManager(secretsmanager=client("secretsmanager"), prefix=f"{self.settings.stack}/connections")

    @cached_property
    def seal(self) -> "Seal":
        """Of the tokens of connections."""
        from delayer.engines.aws.clients import client
        from delayer.engines.aws.secrets import AesGcm, secret_name
        from delayer.engines.ports import TOKEN_KEY
        from delayer.schedule.schedule import SYSTEM_OWNER

        key = secret_name(f"{self.settings.stack}/connections", SYSTEM_OWNER, TOKEN_KEY)
        return AesGcm(secretsmanager=client("secretsmanager"), key=key)


PARTS: Final = frozenset(
    {*Bundle.__annotations__} | {name for name, part in vars(Bundle).items() if isinstance(part, cached_property)}
)
