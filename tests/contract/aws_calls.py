"""What each method of each adapter asks of AWS. The contract tests hold the code to it; the policies follow from it.

A call is an IAM action, and the field of the adapter that names the resource. A transaction needs the permission of
each of its writes.
"""

from typing import Final

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
from delayer.aws.flow.seats import DynamoSeats
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
from delayer.ports.actions import Actions
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
from delayer.ports.owner_claim import KeepsOwnerClaim
from delayer.ports.owner_policies import OwnerPolicies
from delayer.ports.queue import Queue
from delayer.ports.rate_limit import RateLimit
from delayer.ports.registry import Registry
from delayer.ports.schedule_table import Records, ScheduleTable
from delayer.ports.seats import KeepsSeats
from delayer.ports.secrets import Secrets
from delayer.ports.series import SeriesTable
from delayer.ports.series_upkeep import SeriesProgress, SeriesUpkeep
from delayer.ports.signing import SigningRows
from delayer.ports.stream_consumer import StreamConsumer
from delayer.ports.tokens import Seal, TokenRows
from delayer.ports.topic import Topic
from delayer.ports.trials import Trials
from delayer.ports.waiting_table import FindsWaiting

PORTS: Final[dict[type, type]] = {
    AesGcm: Seal,
    DynamoActions: Actions,
    DynamoBlocks: Blocks,
    DynamoLines: Lines,
    DynamoConnections: Connections,
    DynamoControl: Control,
    DynamoJobs: Jobs,
    DynamoJournal: Journal,
    DynamoLedger: Ledger,
    DynamoLedgerInBatches: LedgerInBatches,
    DynamoLiveCount: LiveCount,
    DynamoOwnerClaim: KeepsOwnerClaim,
    DynamoOwnerPolicies: OwnerPolicies,
    DynamoRateLimit: RateLimit,
    DynamoRecords: Records,
    DynamoRegistry: Registry,
    DynamoScheduleTable: ScheduleTable,
    DynamoSeats: KeepsSeats,
    DynamoSeries: SeriesTable,
    DynamoSeriesProgress: SeriesProgress,
    DynamoSeriesUpkeep: SeriesUpkeep,
    DynamoSigningRows: SigningRows,
    DynamoTokens: TokenRows,
    DynamoTrials: Trials,
    DynamoWaitingTable: FindsWaiting,
    LambdaConsumers: Consumers,
    LambdaFunction: Function,
    LambdaStreamConsumer: StreamConsumer,
    S3DeadLetterStore: DeadLetterStore,
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
    ("DynamoConnections", "read"): {(GET, "table")},
    ("DynamoConnections", "listed"): {(QUERY, "table")},
    ("DynamoConnections", "uses"): {(QUERY, "table")},
    ("DynamoConnections", "write"): {(PUT, "table"), (DELETE, "table"), (UPDATE, "table")},
    ("DynamoConnections", "remove"): {(PUT, "table"), (DELETE, "table"), (UPDATE, "table")},
    ("DynamoConnections", "note"): {(PUT, "table")},
    ("DynamoConnections", "notes"): {(QUERY, "table")},
    ("DynamoConnections", "doom"): {(PUT, "table")},
    ("DynamoConnections", "forget"): {(DELETE, "table")},
    ("DynamoTokens", "read"): {(GET, "table")},
    ("DynamoTokens", "write"): {(PUT, "table")},
    ("SecretsManager", "create"): {("secretsmanager:CreateSecret", "prefix"), ("secretsmanager:TagResource", "prefix")},
    ("SecretsManager", "read"): {(READS_SECRET, "prefix")},
    ("SecretsManager", "delete"): {("secretsmanager:DeleteSecret", "prefix")},
    ("DynamoActions", "actions"): {(GET, "table")},
    ("DynamoActions", "write"): {(GET, "table"), (UPDATE, "table")},
    ("DynamoControl", "shards"): {(GET, "table")},
    ("DynamoControl", "raise_shards"): {(UPDATE, "table"), (GET, "table")},
    ("DynamoControl", "id_keys"): {(GET, "table")},
    ("DynamoControl", "write_id_keys"): {(PUT, "table")},
    ("DynamoControl", "progress"): {(GET, "table")},
    ("DynamoControl", "advance"): {(UPDATE, "table")},
    ("DynamoControl", "heartbeats"): {(GET, "table")},
    ("DynamoControl", "await_lanes"): {(UPDATE, "table")},
    ("DynamoControl", "note_lanes"): {(UPDATE, "table")},
    ("DynamoControl", "note_heartbeat"): {(UPDATE, "table")},
    ("DynamoJobs", "read"): {(GET, "table")},
    ("DynamoJobs", "latest"): {(GET, "table")},
    ("DynamoJobs", "start"): {(PUT, "table")},
    ("DynamoJobs", "swap"): {(PUT, "table")},
    ("DynamoJournal", "write"): {(WRITE_MANY, "table")},
    ("DynamoJournal", "history"): {(QUERY, "table")},
    ("DynamoJournal", "beginnings"): {(READ_MANY, "table")},
    ("DynamoJournal", "owned"): {(QUERY, "table")},
    ("DynamoJournal", "occurrences"): {(QUERY, "table")},
    ("DynamoLedger", "read"): {(GET, "table")},
    ("DynamoLedger", "read_all"): {(READ_MANY, "table")},
    ("DynamoLedger", "write"): {(PUT, "table")},
    ("DynamoLedgerInBatches", "read"): {(GET, "table")},
    ("DynamoLedgerInBatches", "read_all"): {(READ_MANY, "table")},
    ("DynamoLedgerInBatches", "read_each"): {(READ_MANY, "table")},
    ("DynamoLedgerInBatches", "write"): {(action, "table") for action in (PUT, INSERT, CHANGE, READ_MANY)},
    ("DynamoLiveCount", "started"): {(PUT, "table"), (UPDATE, "table")},
    ("DynamoLiveCount", "ended"): {(PUT, "table"), (UPDATE, "table")},
    ("DynamoLiveCount", "live"): {(QUERY, "table")},
    ("DynamoLines", "begin_line"): {(UPDATE, "table")},
    ("DynamoLines", "extend_line"): {(UPDATE, "table")},
    ("DynamoLines", "line_ends"): {(QUERY, "table")},
    ("DynamoSeats", "take_seats"): {(UPDATE, "table")},
    ("DynamoSeats", "return_seats"): {(UPDATE, "table")},
    ("DynamoBlocks", "rows"): {(QUERY, "table")},
    ("DynamoBlocks", "discard"): {(QUERY, "table"), (DELETE, "table")},
    ("DynamoBlocks", "change"): {(PUT, "table")},
    ("DynamoBlocks", "remove"): {(DELETE, "table")},
    ("DynamoOwnerClaim", "owner_claim"): {(GET, "table")},
    ("DynamoOwnerClaim", "write_owner_claim"): {(UPDATE, "table")},
    ("DynamoOwnerPolicies", "owner_policy"): {(GET, "table")},
    ("DynamoOwnerPolicies", "write_owner_policy"): {(UPDATE, "table")},
    ("DynamoOwnerPolicies", "remove_owner_policy"): {(UPDATE, "table")},
    ("DynamoOwnerPolicies", "owners_with_policy"): {(GET, "table")},
    ("DynamoRateLimit", "spend"): {(UPDATE, "table")},
    ("DynamoRecords", "put"): {(PUT, lane) for lane in LANES},
    ("DynamoRecords", "put_all"): {(WRITE_MANY, lane) for lane in LANES},
    ("DynamoRecords", "delete"): {(WRITE_MANY, lane) for lane in LANES},
    ("DynamoRecords", "read"): {(GET, lane) for lane in LANES},
    ("DynamoRecords", "read_all"): {(READ_MANY, lane) for lane in LANES},
    ("DynamoRegistry", "named"): {(GET, "registry_table")},
    ("DynamoRegistry", "requested"): {(GET, "registry_table")},
    ("DynamoRegistry", "members"): {(QUERY, "registry_table")},
    ("DynamoRegistry", "create"): CREATES,
    ("DynamoRegistry", "replace"): {*CREATES, *((DELETE, lane) for lane in LANES)},
    ("DynamoRegistry", "decide"): {*STEPS, NAMES, (DELETE, "waiting_table"), (DELETE, "registry_table")},
    ("DynamoScheduleTable", "put"): {(PUT, "table")},
    ("DynamoScheduleTable", "put_all"): {(WRITE_MANY, "table")},
    ("DynamoScheduleTable", "delete"): {(WRITE_MANY, "table")},
    ("DynamoScheduleTable", "page"): {(QUERY, "table")},
    ("DynamoScheduleTable", "read"): {(GET, "table")},
    ("DynamoScheduleTable", "read_all"): {(READ_MANY, "table")},
    ("DynamoScheduleTable", "beat"): {(PUT, "table"), (DELETE, "table")},
    ("DynamoSeries", "cursor"): {(GET, "registry_table")},
    ("DynamoSeries", "definition"): {(GET, "registry_table")},
    ("DynamoSeries", "filed"): {(GET, "registry_table")},
    ("DynamoSeries", "page"): {(QUERY, "registry_table")},
    ("DynamoSeries", "named"): {(GET, "registry_table")},
    ("DynamoSeries", "listed"): {(QUERY, "registry_table")},
    ("DynamoSeries", "cursors"): {(READ_MANY, "registry_table")},
    ("DynamoSeries", "definitions"): {(READ_MANY, "registry_table")},
    ("DynamoSeries", "live"): {(QUERY, "registry_table")},
    ("DynamoSeries", "create"): {*TIMED, (PUT, "registry_table"), (CHECK, "registry_table")},
    ("DynamoSeries", "note"): {(PUT, "registry_table"), (DELETE, "registry_table")},
    ("DynamoSeries", "step"): {*TIMED, NAMES, (PUT, "registry_table"), (DELETE, "registry_table")},
    ("DynamoSeries", "write"): {*STEPS, *TIMED, NAMES, (DELETE, "registry_table")}
    | {(DELETE, "schedules_table"), (DELETE, "relaxed_table")},
    ("DynamoSeriesProgress", "place"): {(GET, "table")},
    ("DynamoSeriesProgress", "reach"): {(UPDATE, "table")},
    ("DynamoSeriesProgress", "round"): {(GET, "table")},
    ("DynamoSeriesProgress", "note"): {(PUT, "table")},
    ("DynamoSeriesUpkeep", "look_again"): {(PUT, "table")},
    ("DynamoSeriesUpkeep", "forget"): {(DELETE, "table")},
    ("DynamoSeriesUpkeep", "carry"): {(GET, "table"), (PUT, "table"), (DELETE, "table")},
    ("DynamoSeriesUpkeep", "listed"): {(QUERY, "table")},
    ("DynamoSigningRows", "signing_keys"): {(GET, "table")},
    ("DynamoSigningRows", "write_signing_keys"): {(PUT, "table")},
    ("DynamoSigningRows", "rotation"): {(GET, "table")},
    ("DynamoSigningRows", "write_rotation"): {(PUT, "table")},
    ("DynamoTrials", "unfinished"): {(GET, "table")},
    ("DynamoTrials", "begin"): {(PUT, "table")},
    ("DynamoTrials", "finish"): {(DELETE, "table")},
    ("DynamoTrials", "any_unfinished"): {(READ_MANY, "table")},
    ("DynamoTrials", "begin_all"): {(WRITE_MANY, "table")},
    ("DynamoTrials", "finish_all"): {(WRITE_MANY, "table")},
    ("DynamoTrials", "note_pass"): {(UPDATE, "table")},
    ("DynamoTrials", "passed"): {(GET, "table")},
    ("DynamoWaitingTable", "page"): {(QUERY, "table")},
    ("LambdaConsumers", "handle"): {("lambda:InvokeFunction", "stack")},
    ("LambdaFunction", "ask"): {("lambda:InvokeFunction", "function")},
    ("LambdaStreamConsumer", "handle"): {("lambda:InvokeFunction", one) for one in ("function", "relaxed")},
    ("S3DeadLetterStore", "set_aside"): {("s3:PutObject", "bucket")},
    ("S3DeadLetterStore", "put"): {("s3:PutObject", "bucket")},
    ("S3DeadLetterStore", "remove"): {("s3:DeleteObject", "bucket")},
    ("S3DeadLetterStore", "list"): {("s3:ListBucket", "bucket")},
    ("S3DeadLetterStore", "get"): {("s3:GetObject", "bucket")},
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
