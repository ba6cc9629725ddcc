"""The registry: names, groups and keys, jobs, rate limits, and what waits although it is due."""

from attrs import evolve

from delayer.accept.ports import NameRow, RequestRow, ScheduleTransaction
from delayer.accept.repository import StoredRegistry, request_item
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.expressions import to_attributes
from delayer.flow.repository import StoredBlocks, StoredLines, StoredSeats, to_item
from delayer.flow.rules.block import Party, opened, probing
from delayer.flow.rules.gate import SeatHold, Taking
from delayer.flow.words import limited, suspended
from delayer.jobs.repository import StoredJobs
from delayer.jobs.rules import JobRow
from delayer.ledger.model import LedgerChange, State
from delayer.owners.repository import StoredRateLimit
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND
from delayer.schedule.schedule_id import IdKind, key_of
from tests.frozen.recorded import Case, Subject, cancelled
from tests.samples import NOW, OWNER, a_claim, a_relaxed_schedule, a_schedule, an_id

OLD, NEW = a_schedule(), a_schedule(NOW + HOUR)
RELAXED = a_relaxed_schedule(NOW + HOUR)
UNDECIDED = a_schedule(id=an_id(kind=IdKind.UNDECIDED), group="g", when='{"policy":"next-full-hour"}')
GROUPED = a_schedule(NOW + HOUR, group="g")
OLD_NAME = NameRow(owner=OWNER, name="invoice 17", schedule_id=OLD.id)
NEW_NAME = evolve(OLD_NAME, schedule_id=NEW.id)
REQUEST = RequestRow(
    owner=OWNER, key="k 1", digest="d1", schedule_id=NEW.id, point_in_time=NOW + HOUR, expires_at=NOW + DAY
)
ANSWERED = evolve(REQUEST, series="0a1b2c", replaces=OLD.id, number=2, state="scheduled")
EXPIRED = evolve(REQUEST, schedule_id=OLD.id, expires_at=NOW - DAY)
REPLACED = LedgerChange(row=a_claim(state=State.REPLACED, replaced_by=NEW.id))
ENDED_AGAIN = LedgerChange(row=evolve(REPLACED.row, revision=2), over=REPLACED.row)
DECIDED = LedgerChange(row=a_claim(schedule_id=UNDECIDED.id, state=State.REPLACED, decided_as=GROUPED.id))
CREATED = ScheduleTransaction(put=GROUPED, put_name=NEW_NAME, put_request=REQUEST, connection="crm")
IN_PLACE = ScheduleTransaction(put=NEW, put_name=NEW_NAME, over_name=OLD_NAME, delete=key_of(OLD.id), end=REPLACED)
DONE_ALREADY = cancelled("None", "ConditionalCheckFailed", item=to_attributes(request_item(REQUEST)))

REGISTRY = Subject(
    adapter=StoredRegistry,
    made=lambda client: StoredRegistry(
        store=DynamoStore(client),
        schedules_table="schedules",
        relaxed_table="relaxed",
        waiting_table="waiting",
        ledger_table="ledger",
        registry_table="registry",
    ),
    cases={
        "named": lambda registry: registry.named(OWNER, "invoice 17"),
        "requested": lambda registry: registry.requested(OWNER, "k 1"),
        "members": lambda registry: registry.members(OWNER, "g", NOW, NOW + DAY, "", 50),
        "members: the next": lambda registry: registry.members(OWNER, "g", NOW, NOW + DAY, OLD.id, 50),
        "create": lambda registry: registry.create(ScheduleTransaction(put=NEW)),
        "create: with a group, a name, a key and a connection": lambda registry: registry.create(CREATED),
        "create: relaxed, over a key that has expired": lambda registry: registry.create(
            ScheduleTransaction(put=RELAXED, put_request=ANSWERED, over_request=EXPIRED)
        ),
        "create: without a time, with its row": lambda registry: registry.create(
            ScheduleTransaction(put=UNDECIDED, put_row=a_claim(schedule_id=UNDECIDED.id))
        ),
        "create: again after a transaction of somebody else": Case(
            lambda registry: registry.create(ScheduleTransaction(put=NEW)), (cancelled("TransactionConflict"),)
        ),
        "create: done already": Case(
            lambda registry: registry.create(ScheduleTransaction(put=NEW, put_request=REQUEST)), (DONE_ALREADY,)
        ),
        "replace": lambda registry: registry.replace(IN_PLACE),
        "replace: relaxed by relaxed, over a row": lambda registry: registry.replace(
            ScheduleTransaction(put=RELAXED, delete=key_of(a_relaxed_schedule().id), end=ENDED_AGAIN)
        ),
        "replace: what waited for its time": lambda registry: registry.replace(
            ScheduleTransaction(put=NEW, delete=key_of(UNDECIDED.id), end=DECIDED)
        ),
        "replace: by what waits for its time, and names a connection": lambda registry: registry.replace(
            ScheduleTransaction(put=UNDECIDED, delete=key_of(OLD.id), end=REPLACED, connection="crm")
        ),
        "decide": lambda registry: registry.decide(
            ScheduleTransaction(put=GROUPED, delete=key_of(UNDECIDED.id), end=DECIDED, connection="crm")
        ),
    },
)

JOB = JobRow(owner=OWNER, job_id="job 1", group="g", created_at=NOW)
GONE_ON = evolve(JOB, revision=2, calls=3, after=an_id(), cancelled=5, handed_over=2, ended=1, by="operator")

JOBS = Subject(
    adapter=StoredJobs,
    made=lambda client: StoredJobs(store=DynamoStore(client), table="registry"),
    cases={
        "read": lambda jobs: jobs.read(OWNER, "job 1"),
        "latest": lambda jobs: jobs.latest(OWNER, "g"),
        "start": lambda jobs: jobs.start(JOB, ""),
        "start: over another": lambda jobs: jobs.start(JOB, "job 0"),
        "start: again after a transaction of somebody else": Case(
            lambda jobs: jobs.start(JOB, ""), (cancelled("TransactionConflict", "None"),)
        ),
        "swap": lambda jobs: jobs.swap(JOB, GONE_ON),
    },
)

RATE_LIMIT = Subject(
    adapter=StoredRateLimit,
    made=lambda client: StoredRateLimit(store=DynamoStore(client), table="registry"),
    cases={"spend": lambda limit: limit.spend(OWNER, "2026-11-21T09:00", 10, NOW + HOUR)},
)

PARTY = Party(owner=OWNER, target="http-request target.example")
OPENED = opened(PARTY, NOW, "HTTP 503")
SUSPENDED = suspended(Party(owner=OWNER, target=""), NOW, "it floods", "operator")
A_ROW = to_attributes(to_item(OPENED))
BROKEN = {name: value for name, value in A_ROW.items() if name != "kind"}
OF_NO_REVISION = {name: A_ROW[name] for name in ("list", "entry")}

BLOCKS = Subject(
    adapter=StoredBlocks,
    made=lambda client: StoredBlocks(store=DynamoStore(client), table="registry"),
    cases={
        "rows: the latest": lambda blocks: blocks.rows(latest=True),
        "rows: two pages, perhaps older": Case(
            lambda blocks: blocks.rows(latest=False),
            ({"Items": [], "LastEvaluatedKey": {"list": {"S": "flow"}, "entry": {"S": OPENED.key}}},),
        ),
        "change: a first one": lambda blocks: blocks.change(OPENED),
        "change: of an operator": lambda blocks: blocks.change(SUSPENDED),
        "change: of a revision": lambda blocks: blocks.change(probing(OPENED, "n1", NOW)),
        "change: a limit, over another": lambda blocks: blocks.change(
            limited(PARTY, NOW + 1, 200_000, "operator", limited(PARTY, NOW, 100_000, "operator"), concurrency=3),
            limited(PARTY, NOW, 100_000, "operator"),
        ),
        "remove": lambda blocks: blocks.remove(SUSPENDED),
        "discard": Case(lambda blocks: blocks.discard(OPENED.key), ({"Items": [BROKEN]},)),
        "discard: without a revision": Case(lambda blocks: blocks.discard(OPENED.key), ({"Items": [OF_NO_REVISION]},)),
    },
)

MICROS_NOW = NOW * 1_000
LINES = Subject(
    adapter=StoredLines,
    made=lambda client: StoredLines(store=DynamoStore(client), table="registry"),
    cases={
        "begin_line": lambda lines: lines.begin_line("limit#1", MICROS_NOW, MICROS_NOW + 500, NOW + DAY),
        "extend_line": lambda lines: lines.extend_line("limit#1", MICROS_NOW, 500, 20_000, NOW + DAY),
        "line_ends": lambda lines: lines.line_ends(),
        "line_ends: two pages": Case(
            lambda lines: lines.line_ends(),
            ({"Items": [], "LastEvaluatedKey": {"list": {"S": "flow-slots"}, "entry": {"S": "limit#1"}}},),
        ),
    },
)

MINE = SeatHold(id="h1", number=4, until=NOW + MINUTE)
OVER = (SeatHold(id="h2", number=1, until=NOW - SECOND), SeatHold(id="h3", number=2, until=NOW - MINUTE))
SEATS = Subject(
    adapter=StoredSeats,
    made=lambda client: StoredSeats(store=DynamoStore(client), table="registry"),
    cases={
        "take_seats": lambda seats: seats.take_seats("limit#2", Taking(hold=MINE, gone=(), most=10)),
        "take_seats: for some that are over": lambda seats: seats.take_seats(
            "limit#2", Taking(hold=MINE, gone=OVER, most=10)
        ),
        "return_seats": lambda seats: seats.return_seats("limit#2", [MINE, *OVER]),
    },
)

SUBJECTS = (REGISTRY, JOBS, RATE_LIMIT, BLOCKS, LINES, SEATS)
