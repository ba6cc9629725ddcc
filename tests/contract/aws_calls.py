"""What each method of each adapter asks of AWS. The contract tests hold the code to it; the policies follow from it.

A call is an IAM action, and the field of the adapter that names the resource. A transaction needs the permission of
each of its writes.
"""

from typing import Final

from delayer.accept.ports import Registry
from delayer.accept.repository import StoredRegistry
from delayer.actions.ports import Actions
from delayer.actions.repository import StoredActions
from delayer.connections.ports import Connections, Seal, TokenRows
from delayer.connections.repository import StoredConnections, StoredTokens
from delayer.dead_letters.ports import DeadLetterStore
from delayer.dead_letters.repository import StoredDeadLetters
from delayer.engines.aws.function import LambdaFunction
from delayer.engines.aws.messaging import SnsTopic, SqsQueue
from delayer.engines.aws.secrets import AesGcm, SecretsManager
from delayer.engines.ports import Function, Queue, Secrets, Topic
from delayer.flow.ports import Blocks, KeepsSeats, Lines
from delayer.flow.repository import StoredBlocks, StoredLines, StoredSeats
from delayer.history.ports import Journal, LiveCount
from delayer.history.repository import StoredJournal, StoredLiveCount
from delayer.jobs.ports import Jobs
from delayer.jobs.repository import StoredJobs
from delayer.lambdas.consumers import LambdaConsumers, LambdaStreamConsumer
from delayer.ledger.ports import Ledger, LedgerInBatches
from delayer.ledger.repository import StoredLedger, StoredLedgerInBatches
from delayer.owners.ports import KeepsOwnerClaim, OwnerPolicies, RateLimit
from delayer.owners.repository import StoredOwnerClaim, StoredOwnerPolicies, StoredRateLimit
from delayer.records.ports import Control, Records, ScheduleTable
from delayer.records.repository import StoredControl, StoredRecords, StoredScheduleTable
from delayer.recovery.ports import Consumers, StreamConsumer, Trials
from delayer.recovery.repository import StoredTrials
from delayer.series.ports import SeriesProgress, SeriesTable, SeriesUpkeep
from delayer.series.repository.series_table import StoredSeries
from delayer.series.repository.upkeep import StoredSeriesProgress, StoredSeriesUpkeep
from delayer.signing.ports import SigningRows
from delayer.signing.repository import StoredSigningRows
from delayer.timing.ports import WaitingTable
from delayer.timing.repository import StoredWaitingTable

PORTS: Final[dict[type, type]] = {
    AesGcm: Seal,
    StoredActions: Actions,
    StoredBlocks: Blocks,
    StoredLines: Lines,
    StoredConnections: Connections,
    StoredControl: Control,
    StoredJobs: Jobs,
    StoredJournal: Journal,
    StoredLedger: Ledger,
    StoredLedgerInBatches: LedgerInBatches,
    StoredLiveCount: LiveCount,
    StoredOwnerClaim: KeepsOwnerClaim,
    StoredOwnerPolicies: OwnerPolicies,
    StoredRateLimit: RateLimit,
    StoredRecords: Records,
    StoredRegistry: Registry,
    StoredScheduleTable: ScheduleTable,
    StoredSeats: KeepsSeats,
    StoredSeries: SeriesTable,
    StoredSeriesProgress: SeriesProgress,
    StoredSeriesUpkeep: SeriesUpkeep,
    StoredSigningRows: SigningRows,
    StoredTokens: TokenRows,
    StoredTrials: Trials,
    StoredWaitingTable: WaitingTable,
    LambdaConsumers: Consumers,
    LambdaFunction: Function,
    LambdaStreamConsumer: StreamConsumer,
    StoredDeadLetters: DeadLetterStore,
    SecretsManager: Secrets,
    SnsTopic: Topic,
    SqsQueue: Queue,
}

Call = tuple[str, str]

GET: Final = "dynamodb:GetItem"
PUT: Final = "dynamodb:PutItem"
UPDATE: Final = "dynamodb:UpdateItem"
DELETE: Final = "dynamodb:DeleteItem"
QUERY: Final = "dynamodb:Query"
READ_MANY: Final = "dynamodb:BatchGetItem"
WRITE_MANY: Final = "dynamodb:BatchWriteItem"
INSERT: Final = "dynamodb:PartiQLInsert"
CHANGE: Final = "dynamodb:PartiQLUpdate"

CHECK: Final = "dynamodb:ConditionCheckItem"

STEPS: Final = {(PUT, "schedules_table"), (PUT, "ledger_table"), (PUT, "registry_table")}
LANES: Final = ("schedules_table", "relaxed_table", "waiting_table")  # each record is in the table of its lane
TIMED: Final = {(PUT, "schedules_table"), (PUT, "relaxed_table")}  # an occurrence never waits for its time
NAMES: Final = (CHECK, "registry_table")  # the gate of a connection
CREATES: Final = {*STEPS, *((PUT, lane) for lane in LANES), NAMES}
READS_SECRET: Final = "secretsmanager:GetSecretValue"

CALLS: Final[dict[tuple[str, str], set[Call]]] = {
    ("AesGcm", "sealed"): {(READS_SECRET, "key")},
    ("AesGcm", "opened"): {(READS_SECRET, "key")},
    ("StoredConnections", "read"): {(GET, "table")},
    ("StoredConnections", "listed"): {(QUERY, "table")},
    ("StoredConnections", "uses"): {(QUERY, "table")},
    ("StoredConnections", "write"): {(PUT, "table"), (DELETE, "table"), (UPDATE, "table")},
    ("StoredConnections", "remove"): {(PUT, "table"), (DELETE, "table"), (UPDATE, "table")},
    ("StoredConnections", "note"): {(PUT, "table")},
    ("StoredConnections", "notes"): {(QUERY, "table")},
    ("StoredConnections", "doom"): {(PUT, "table")},
    ("StoredConnections", "forget"): {(DELETE, "table")},
    ("StoredTokens", "read"): {(GET, "table")},
    ("StoredTokens", "write"): {(PUT, "table")},
    ("SecretsManager", "create"): {("secretsmanager:CreateSecret", "prefix"), ("secretsmanager:TagResource", "prefix")},
    ("SecretsManager", "read"): {(READS_SECRET, "prefix")},
    ("SecretsManager", "delete"): {("secretsmanager:DeleteSecret", "prefix")},
    ("StoredActions", "actions"): {(GET, "table")},
    ("StoredActions", "write"): {(GET, "table"), (UPDATE, "table")},
    ("StoredControl", "shards"): {(GET, "table")},
    ("StoredControl", "raise_shards"): {(UPDATE, "table"), (GET, "table")},
    ("StoredControl", "id_keys"): {(GET, "table")},
    ("StoredControl", "write_id_keys"): {(PUT, "table")},
    ("StoredControl", "progress"): {(GET, "table")},
    ("StoredControl", "advance"): {(UPDATE, "table")},
    ("StoredControl", "heartbeats"): {(GET, "table")},
    ("StoredControl", "await_lanes"): {(UPDATE, "table")},
    ("StoredControl", "note_lanes"): {(UPDATE, "table")},
    ("StoredControl", "note_heartbeat"): {(UPDATE, "table")},
    ("StoredJobs", "read"): {(GET, "table")},
    ("StoredJobs", "latest"): {(GET, "table")},
    ("StoredJobs", "start"): {(PUT, "table")},
    ("StoredJobs", "swap"): {(PUT, "table")},
    ("StoredJournal", "write"): {(WRITE_MANY, "table")},
    ("StoredJournal", "history"): {(QUERY, "table")},
    ("StoredJournal", "beginnings"): {(READ_MANY, "table")},
    ("StoredJournal", "owned"): {(QUERY, "table")},
    ("StoredJournal", "occurrences"): {(QUERY, "table")},
    ("StoredLedger", "read"): {(GET, "table")},
    ("StoredLedger", "read_all"): {(READ_MANY, "table")},
    ("StoredLedger", "write"): {(PUT, "table")},
    ("StoredLedgerInBatches", "read"): {(GET, "table")},
    ("StoredLedgerInBatches", "read_all"): {(READ_MANY, "table")},
    ("StoredLedgerInBatches", "read_each"): {(READ_MANY, "table")},
    ("StoredLedgerInBatches", "write"): {(action, "table") for action in (PUT, INSERT, CHANGE, READ_MANY)},
    ("StoredLiveCount", "started"): {(PUT, "table"), (UPDATE, "table")},
    ("StoredLiveCount", "ended"): {(PUT, "table"), (UPDATE, "table")},
    ("StoredLiveCount", "live"): {(QUERY, "table")},
    ("StoredLines", "begin_line"): {(UPDATE, "table")},
    ("StoredLines", "extend_line"): {(UPDATE, "table")},
    ("StoredLines", "line_ends"): {(QUERY, "table")},
    ("StoredSeats", "take_seats"): {(UPDATE, "table")},
    ("StoredSeats", "return_seats"): {(UPDATE, "table")},
    ("StoredBlocks", "rows"): {(QUERY, "table")},
    ("StoredBlocks", "discard"): {(QUERY, "table"), (DELETE, "table")},
    ("StoredBlocks", "change"): {(PUT, "table")},
    ("StoredBlocks", "remove"): {(DELETE, "table")},
    ("StoredOwnerClaim", "owner_claim"): {(GET, "table")},
    ("StoredOwnerClaim", "write_owner_claim"): {(UPDATE, "table")},
    ("StoredOwnerPolicies", "owner_policy"): {(GET, "table")},
    ("StoredOwnerPolicies", "write_owner_policy"): {(UPDATE, "table")},
    ("StoredOwnerPolicies", "remove_owner_policy"): {(UPDATE, "table")},
    ("StoredOwnerPolicies", "owners_with_policy"): {(GET, "table")},
    ("StoredRateLimit", "spend"): {(UPDATE, "table")},
    ("StoredRecords", "put"): {(PUT, lane) for lane in LANES},
    ("StoredRecords", "put_all"): {(WRITE_MANY, lane) for lane in LANES},
    ("StoredRecords", "delete"): {(WRITE_MANY, lane) for lane in LANES},
    ("StoredRecords", "read"): {(GET, lane) for lane in LANES},
    ("StoredRecords", "read_all"): {(READ_MANY, lane) for lane in LANES},
    ("StoredRegistry", "named"): {(GET, "registry_table")},
    ("StoredRegistry", "requested"): {(GET, "registry_table")},
    ("StoredRegistry", "members"): {(QUERY, "registry_table")},
    ("StoredRegistry", "create"): CREATES,
    ("StoredRegistry", "replace"): {*CREATES, *((DELETE, lane) for lane in LANES)},
    ("StoredRegistry", "decide"): {*STEPS, NAMES, (DELETE, "waiting_table"), (DELETE, "registry_table")},
    ("StoredScheduleTable", "put"): {(PUT, "table")},
    ("StoredScheduleTable", "put_all"): {(WRITE_MANY, "table")},
    ("StoredScheduleTable", "delete"): {(WRITE_MANY, "table")},
    ("StoredScheduleTable", "page"): {(QUERY, "table")},
    ("StoredScheduleTable", "read"): {(GET, "table")},
    ("StoredScheduleTable", "read_all"): {(READ_MANY, "table")},
    ("StoredScheduleTable", "beat"): {(PUT, "table"), (DELETE, "table")},
    ("StoredSeries", "cursor"): {(GET, "registry_table")},
    ("StoredSeries", "definition"): {(GET, "registry_table")},
    ("StoredSeries", "filed"): {(GET, "registry_table")},
    ("StoredSeries", "filed_all"): {(READ_MANY, "registry_table")},
    ("StoredSeries", "both"): {(READ_MANY, "registry_table")},
    ("StoredSeries", "page"): {(QUERY, "registry_table")},
    ("StoredSeries", "named"): {(GET, "registry_table")},
    ("StoredSeries", "listed"): {(QUERY, "registry_table")},
    ("StoredSeries", "cursors"): {(READ_MANY, "registry_table")},
    ("StoredSeries", "definitions"): {(READ_MANY, "registry_table")},
    ("StoredSeries", "live"): {(QUERY, "registry_table")},
    ("StoredSeries", "create"): {*TIMED, (PUT, "registry_table"), (CHECK, "registry_table")},
    ("StoredSeries", "note"): {(PUT, "registry_table"), (DELETE, "registry_table")},
    ("StoredSeries", "step"): {*TIMED, NAMES, (PUT, "registry_table"), (DELETE, "registry_table")},
    ("StoredSeries", "write"): {*STEPS, *TIMED, NAMES, (DELETE, "registry_table")}
    | {(DELETE, "schedules_table"), (DELETE, "relaxed_table")},
    ("StoredSeriesProgress", "place"): {(GET, "table")},
    ("StoredSeriesProgress", "reach"): {(UPDATE, "table")},
    ("StoredSeriesProgress", "round"): {(GET, "table")},
    ("StoredSeriesProgress", "note"): {(PUT, "table")},
    ("StoredSeriesUpkeep", "look_again"): {(PUT, "table")},
    ("StoredSeriesUpkeep", "forget"): {(DELETE, "table")},
    ("StoredSeriesUpkeep", "carry"): {(GET, "table"), (PUT, "table"), (DELETE, "table")},
    ("StoredSeriesUpkeep", "listed"): {(QUERY, "table")},
    ("StoredSigningRows", "signing_keys"): {(GET, "table")},
    ("StoredSigningRows", "write_signing_keys"): {(PUT, "table")},
    ("StoredSigningRows", "rotation"): {(GET, "table")},
    ("StoredSigningRows", "write_rotation"): {(PUT, "table")},
    ("StoredTrials", "unfinished"): {(GET, "table")},
    ("StoredTrials", "begin"): {(PUT, "table")},
    ("StoredTrials", "finish"): {(DELETE, "table")},
    ("StoredTrials", "any_unfinished"): {(READ_MANY, "table")},
    ("StoredTrials", "begin_all"): {(WRITE_MANY, "table")},
    ("StoredTrials", "finish_all"): {(WRITE_MANY, "table")},
    ("StoredTrials", "note_pass"): {(UPDATE, "table")},
    ("StoredTrials", "passed"): {(GET, "table")},
    ("StoredWaitingTable", "page"): {(QUERY, "table")},
    ("LambdaConsumers", "handle"): {("lambda:InvokeFunction", "stack")},
    ("LambdaFunction", "ask"): {("lambda:InvokeFunction", "function")},
    ("LambdaStreamConsumer", "handle"): {("lambda:InvokeFunction", one) for one in ("function", "relaxed")},
    ("StoredDeadLetters", "set_aside"): {("s3:PutObject", "bucket")},
    ("StoredDeadLetters", "put"): {("s3:PutObject", "bucket")},
    ("StoredDeadLetters", "remove"): {("s3:DeleteObject", "bucket")},
    ("StoredDeadLetters", "list"): {("s3:ListBucket", "bucket")},
    ("StoredDeadLetters", "get"): {("s3:GetObject", "bucket")},
    ("SnsTopic", "publish"): {("sns:Publish", "arn")},
    ("SqsQueue", "send"): {("sqs:SendMessage", "url")},
    ("SqsQueue", "pull"): {("sqs:ReceiveMessage", "url")},
    ("SqsQueue", "delete"): {("sqs:DeleteMessage", "url")},
    ("SqsQueue", "give_back"): {("sqs:ChangeMessageVisibility", "url")},
    ("SqsQueue", "visible"): {("sqs:GetQueueAttributes", "url")},
    ("SqsQueue", "delayed"): {("sqs:GetQueueAttributes", "url")},
}

# The rows of the control table, and the lists of the registry, that each method touches: a policy names them.
ROWS: Final[dict[str, set[str]]] = {
    "actions": {"actions"},
    "write": {"actions"},
    "shards": {"shards"},
    "raise_shards": {"shards"},
    "id_keys": {"id-key"},
    "write_id_keys": {"id-key"},
    "progress": {"sweep"},
    "advance": {"sweep"},
    "heartbeats": {"heartbeat"},
    "await_lanes": {"heartbeat"},
    "note_lanes": {"heartbeat"},
    "note_heartbeat": {"heartbeat"},
    "place": {"series-net"},
    "reach": {"series-net"},
    "round": {"series-waiting", "series-zoned"},
    "note": {"series-waiting", "series-zoned"},
    "signing_keys": {"signing-key"},
    "write_signing_keys": {"signing-key"},
    "rotation": {"signing#*"},
    "write_rotation": {"signing#*"},
    "unfinished": {"suspect#*"},
    "begin": {"suspect#*"},
    "finish": {"suspect#*"},
    "any_unfinished": {"suspect#*"},
    "begin_all": {"suspect#*"},
    "finish_all": {"suspect#*"},
    "note_pass": {"passed#*"},
    "passed": {"passed#*"},
    "rows": {"flow"},
    "discard": {"flow"},
    "change": {"flow"},
    "remove": {"flow"},
    "begin_line": {"flow-slots"},
    "extend_line": {"flow-slots"},
    "line_ends": {"flow-slots"},
    "take_seats": {"flow-slots"},
    "return_seats": {"flow-slots"},
    "owner_claim": {"owner-claim"},
    "write_owner_claim": {"owner-claim"},
    "owner_policy": {"owner-policy", "owner-policy#*"},
    "write_owner_policy": {"owner-policy", "owner-policy#*", "owner-policies#*"},
    "remove_owner_policy": {"owner-policy", "owner-policy#*"},
    "owners_with_policy": {"owner-policies#*"},
}
