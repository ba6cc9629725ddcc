"""The tables of schedules, the ledger, and the rows of the control table that keep Delayer going."""

from collections.abc import Callable
from typing import Any

from attrs import evolve

from delayer.engines.aws.dynamo_store import ITEMS, KEYS, DynamoStore
from delayer.engines.aws.expressions import to_attributes
from delayer.engines.process import InOrder
from delayer.ledger.model import Arrival, LedgerChange, State
from delayer.ledger.repository import StoredLedger, StoredLedgerInBatches
from delayer.records.repository import StoredControl, StoredRecords, StoredScheduleTable, to_item
from delayer.recovery.repository import StoredTrials
from delayer.recovery.rules import Trial
from delayer.schedule.instants import MINUTE, SECOND
from delayer.schedule.schedule import Traits
from delayer.schedule.schedule_id import FIRST_VERSION, Bucket, IdKey, IdKeys, IdKind, Progress, Shards, key_of
from delayer.schedule.table_change import Heartbeat
from delayer.timing.repository import StoredWaitingTable
from tests.frozen.recorded import Case, Subject, refused
from tests.samples import KEY, NOW, a_claim, a_relaxed_schedule, a_schedule, an_id, many_schedules

PRECISE, RELAXED = a_schedule(), a_relaxed_schedule()
WAITING = a_schedule(id=an_id(kind=IdKind.UNDECIDED), when='{"policy":"next-full-hour"}')
LANES = [PRECISE, RELAXED, WAITING]
KEY_ITEM = {"bucket": {"S": key_of(PRECISE.id).bucket}, "due": {"S": key_of(PRECISE.id).due}}
UNPROCESSED = {"UnprocessedItems": {"schedules": [{"PutRequest": {"Item": to_attributes(to_item(PRECISE))}}]}}
NOT_DELETED = {"UnprocessedItems": {"schedules": [{"DeleteRequest": {"Key": KEY_ITEM}}]}}
NOT_READ = {"UnprocessedKeys": {"schedules": {"Keys": [KEY_ITEM]}}}
FULL = a_schedule(
    NOW + MINUTE,
    group="g",
    on_late='{"drop":"PT1M"}',
    tags='{"a":"é"}',
    retry='{"attempts":3}',
    series='{"series":"0a1b2c","number":1}',
    window='{"width":"PT5M"}',
    traits=Traits(fair_group=3),
)

SCHEDULES = Subject(
    adapter=StoredScheduleTable,
    made=lambda client: StoredScheduleTable(store=DynamoStore(client), table="schedules"),
    cases={
        "put": lambda table: table.put(PRECISE),
        "put: with all that a client may say": lambda table: table.put(FULL),
        "put: without a time": lambda table: table.put(WAITING),
        "put_all": lambda table: table.put_all([PRECISE, FULL]),
        "put_all: what was left is put again": Case(lambda table: table.put_all([PRECISE, FULL]), (UNPROCESSED,)),
        "put_all: more than one request takes": lambda table: table.put_all(many_schedules(ITEMS + 1)),
        "delete: a key that comes twice": lambda table: table.delete([key_of(PRECISE.id)] * 2),
        "delete: what was left is deleted again": Case(
            lambda table: table.delete([key_of(PRECISE.id), key_of(FULL.id)]), (NOT_DELETED,)
        ),
        "page": lambda table: table.page(Bucket(minute=NOW // MINUTE, shard=3)),
        "page: the next": lambda table: table.page(Bucket(minute=NOW // MINUTE, shard=3), key_of(PRECISE.id)),
        "read": lambda table: table.read(key_of(PRECISE.id)),
        "read_all": lambda table: table.read_all([key_of(PRECISE.id), key_of(FULL.id), key_of(PRECISE.id)]),
        "read_all: what was left is read again": Case(
            lambda table: table.read_all([key_of(PRECISE.id), key_of(FULL.id)]), (NOT_READ,)
        ),
        "read_all: more than one request takes": lambda table: table.read_all(
            [key_of(one.id) for one in many_schedules(KEYS + 1)]
        ),
        "beat": lambda table: table.beat(Heartbeat(sent_at=NOW)),
        "beat: of a lane": lambda table: table.beat(Heartbeat(sent_at=NOW, lane="3")),
    },
)

RECORDS = Subject(
    adapter=StoredRecords,
    made=lambda client: StoredRecords(
        store=DynamoStore(client), schedules_table="schedules", relaxed_table="relaxed", waiting_table="waiting"
    ),
    cases={
        "put: precise": lambda records: records.put(PRECISE),
        "put: relaxed": lambda records: records.put(RELAXED),
        "put: without a time": lambda records: records.put(WAITING),
        "put_all": lambda records: records.put_all(LANES),
        "delete": lambda records: records.delete([key_of(one.id) for one in LANES]),
        "read: precise": lambda records: records.read(key_of(PRECISE.id)),
        "read: relaxed": lambda records: records.read(key_of(RELAXED.id)),
        "read: without a time": lambda records: records.read(key_of(WAITING.id)),
        "read_all": lambda records: records.read_all([key_of(one.id) for one in LANES]),
    },
)

WAITING_TABLE = Subject(
    adapter=StoredWaitingTable,
    made=lambda client: StoredWaitingTable(store=DynamoStore(client), table="waiting"),
    cases={
        "page": lambda table: table.page(3, NOW, NOW + MINUTE),
        "page: the next": lambda table: table.page(3, NOW, NOW + MINUTE, after=key_of(WAITING.id).due, at_most=7),
    },
)

CLAIM = a_claim()
EXECUTED = evolve(CLAIM, state=State.EXECUTED, revision=2, at=NOW + SECOND)
EACH_FIELD = evolve(
    CLAIM,
    revision=3,
    enqueued_at=NOW - SECOND,
    attempt=2,
    retry_of="d0",
    retry_at=NOW + MINUTE,
    age_from=NOW - MINUTE,
    arrival=[*Arrival][-1],
    detail="HTTP 503",
    name="invoice 17",
    replaced_by=FULL.id,
    decided_as=FULL.id,
    stopped_at=NOW + 1,
    lateness=17,
    by="operator",
    answer="{}",
)
FIRST, SECOND_WRITE = LedgerChange(row=CLAIM), LedgerChange(row=EXECUTED, over=CLAIM)
OF_ANOTHER = LedgerChange(row=evolve(CLAIM, schedule_id=FULL.id))
CONFLICT = refused("TransactionConflictException")
LEDGER_CASES: dict[str, Case | Callable[[Any], object]] = {
    "read": lambda ledger: ledger.read(CLAIM.schedule_id),
    "read_all": lambda ledger: ledger.read_all([PRECISE.id, FULL.id, PRECISE.id]),
    "write: a first row": lambda ledger: ledger.write([FIRST]),
    "write: over another": lambda ledger: ledger.write([SECOND_WRITE]),
    "write: all fields": lambda ledger: ledger.write([LedgerChange(row=EACH_FIELD, over=EXECUTED)]),
    "write: again after a transaction of somebody else": Case(lambda ledger: ledger.write([FIRST]), (CONFLICT,)),
}

LEDGER = Subject(
    adapter=StoredLedger,
    made=lambda client: StoredLedger(store=DynamoStore(client), table="ledger", parallel=InOrder()),
    cases={**LEDGER_CASES, "write: two": lambda ledger: ledger.write([FIRST, OF_ANOTHER])},
)


def answers(*codes: str) -> dict[str, object]:
    return {"Responses": [{"Error": {"Code": code}} if code else {} for code in codes]}


IN_BATCHES = Subject(
    adapter=StoredLedgerInBatches,
    made=lambda client: StoredLedgerInBatches(store=DynamoStore(client), table="ledger", parallel=InOrder()),
    cases={
        **LEDGER_CASES,
        "read_each": lambda ledger: ledger.read_each([PRECISE.id, FULL.id, PRECISE.id]),
        "write: two, of which one is over another": lambda ledger: ledger.write([SECOND_WRITE, OF_ANOTHER]),
        "write: a statement that meets a row, which is read": Case(
            lambda ledger: ledger.write([SECOND_WRITE, OF_ANOTHER]), (answers("", "DuplicateItem"),)
        ),
        "write: a statement that may succeed in a moment": Case(
            lambda ledger: ledger.write([SECOND_WRITE, OF_ANOTHER]), (answers("", "ThrottlingError"),)
        ),
        "write: a statement that is not taken, and is put": Case(
            lambda ledger: ledger.write([SECOND_WRITE, OF_ANOTHER]), (answers("", "ValidationError"),)
        ),
        "write: a request that is refused, and each is put": Case(
            lambda ledger: ledger.write([SECOND_WRITE, OF_ANOTHER]), (refused("ValidationException"),)
        ),
    },
)

ID_KEY = IdKey(version=FIRST_VERSION, secret=KEY, created_at=NOW, writes_from=NOW)
ONE_KEY = IdKeys(keys=(ID_KEY,))
TWO_KEYS = IdKeys(keys=(ID_KEY, evolve(ID_KEY, version=FIRST_VERSION + 1, writes_from=NOW + MINUTE)))
LATER_KEYS = IdKeys(keys=TWO_KEYS.keys[1:])
BEATS = [Heartbeat(sent_at=NOW, lane="b"), Heartbeat(sent_at=NOW, lane="a")]

CONTROL = Subject(
    adapter=StoredControl,
    made=lambda client: StoredControl(store=DynamoStore(client), table="control"),
    cases={
        "shards": lambda control: control.shards(),
        "raise_shards": Case(
            lambda control: control.raise_shards(Shards(highest=16, since=NOW)),
            ({}, {"Item": {"highest": {"N": "16"}, "since": {"N": str(NOW)}}}),
        ),
        "id_keys": lambda control: control.id_keys(),
        "write_id_keys: the first": lambda control: control.write_id_keys(ONE_KEY, IdKeys()),
        "write_id_keys: over one": lambda control: control.write_id_keys(TWO_KEYS, ONE_KEY),
        "write_id_keys: over two": lambda control: control.write_id_keys(LATER_KEYS, TWO_KEYS),
        "progress": lambda control: control.progress(),
        "advance": lambda control: control.advance(
            Progress(closed_until=NOW // MINUTE, swept_at=NOW, whole_at=NOW - MINUTE)
        ),
        "heartbeats": lambda control: control.heartbeats(),
        "note_heartbeat": lambda control: control.note_heartbeat(NOW),
        "await_lanes": lambda control: control.await_lanes(BEATS),
        "note_lanes": lambda control: control.note_lanes(BEATS),
    },
)

TRIALS = Subject(
    adapter=StoredTrials,
    made=lambda client: StoredTrials(store=DynamoStore(client), table="control"),
    cases={
        "unfinished": lambda trials: trials.unfinished("a1b2"),
        "begin": lambda trials: trials.begin("a1b2", Trial(began=NOW, proofs=2)),
        "finish": lambda trials: trials.finish("a1b2"),
        "any_unfinished": lambda trials: trials.any_unfinished(["a1b2", "c3d4"]),
        "begin_all": lambda trials: trials.begin_all(["a1b2", "c3d4"], NOW),
        "finish_all": lambda trials: trials.finish_all(["a1b2", "c3d4"]),
        "note_pass": lambda trials: trials.note_pass("delayer-relay", NOW),
        "passed": lambda trials: trials.passed("delayer-relay"),
    },
)

SUBJECTS = (SCHEDULES, RECORDS, WAITING_TABLE, LEDGER, IN_BATCHES, CONTROL, TRIALS)
