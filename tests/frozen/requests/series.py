"""Series: their cursors and definitions, and what keeps them going."""

from attrs import evolve

from delayer.accept.ports import RequestRow
from delayer.connections.model import SeriesUse
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.expressions import to_attributes
from delayer.ledger.model import LedgerChange, State
from delayer.recurrence.terms import OnMissed
from delayer.schedule.instants import DAY, MINUTE
from delayer.schedule.schedule import Traits
from delayer.schedule.schedule_id import Bucket, IdKind, address_of, key_of
from delayer.series.ports import Filed, SeriesEntry, SeriesKey, SeriesTransaction
from delayer.series.repository.series_table import StoredSeries, filed_key, filed_values
from delayer.series.repository.upkeep import StoredSeriesProgress, StoredSeriesUpkeep
from delayer.series.rules.series import Backfill, Cursor, Directory, Overlap, Round, SeriesDefinition, SeriesState
from delayer.series.rules.upkeep import NetPosition
from tests.frozen.recorded import Case, Subject, cancelled
from tests.samples import NOW, OWNER, a_claim, a_definition, a_schedule, an_id

ID, OTHER_ID = "0a1b2c", "ffeedd"
FIRST, SECOND = a_schedule(), a_schedule(NOW + MINUTE)
RELAXED = a_schedule(NOW + MINUTE, id=an_id(NOW + MINUTE, kind=IdKind.RELAXED_OCCURRENCE))
DEFINITION = SeriesDefinition(
    owner=OWNER,
    repeat='{"cron": "0 9 * * *", "timeZone": "Europe/Berlin"}',
    overlap=Overlap.QUEUE_ONE,
    on_missed=OnMissed.ALL,
    definition=a_definition(group="g", tags='{"a":"é"}'),
    name="every day",
    created_at=NOW,
    traits=Traits(fair_group=3),
)
PLAIN = SeriesDefinition(owner=OWNER, repeat='{"every": "PT1M"}', definition=a_definition(), is_relaxed=True)
BEGUN = Cursor(series=ID, owner=OWNER, state=SeriesState.ACTIVE, number=1, current=FIRST.id, at=NOW)
STEPPED = evolve(BEGUN, revision=2, number=2, current=SECOND.id, at=NOW + MINUTE, made_up=3)
FILLED = evolve(
    STEPPED,
    revision=3,
    passed=NOW,
    beside=(RELAXED.id,),
    backfill=Backfill(since=NOW - DAY, until=NOW, at=NOW - DAY, current=FIRST.id, left=3, given_up=True),
)
WAITS = evolve(BEGUN, revision=2, state=SeriesState.WAITING, current="", at=0)
PAUSED = evolve(BEGUN, revision=2, state=SeriesState.PAUSED, current="")
CANCELLED = evolve(BEGUN, revision=2, state=SeriesState.CANCELLED, current="", expires_at=NOW + DAY)
KEY = RequestRow(
    owner=OWNER, key="k", digest="d", schedule_id=FIRST.id, point_in_time=NOW, expires_at=NOW + DAY, series=ID
)
CREATED = SeriesTransaction(
    cursor=BEGUN,
    over=None,
    put=(FIRST,),
    definition=DEFINITION,
    put_request=KEY,
    uses=(SeriesUse(connection="crm", is_checked=True),),
)
OF_ANOTHER = evolve(CANCELLED, series=OTHER_ID)
END = LedgerChange(row=a_claim(state=State.CANCELLED))
STEP = SeriesTransaction(cursor=STEPPED, over=BEGUN, put=(SECOND,))
RENAMED = evolve(DEFINITION, revision=2, definition=a_definition(group="h"))
MORE = {
    "Items": [],
    "Count": 2,
    "LastEvaluatedKey": {"list": {"S": f"series-of#{OWNER}"}, "entry": {"S": f"g#{ID}"}},
}

SERIES = Subject(
    adapter=StoredSeries,
    made=lambda client: StoredSeries(
        store=DynamoStore(client),
        schedules_table="schedules",
        relaxed_table="relaxed",
        ledger_table="ledger",
        registry_table="registry",
    ),
    cases={
        "cursor": lambda series: series.cursor(OWNER, ID),
        "definition": lambda series: series.definition(OWNER, ID),
        "filed": lambda series: series.filed(FIRST.id),
        "filed_all": lambda series: series.filed_all([FIRST.id, SECOND.id]),
        "both": lambda series: series.both([SeriesKey(owner=OWNER, series=one) for one in (ID, OTHER_ID)]),
        "named": lambda series: series.named(OWNER, "every day"),
        "page": lambda series: series.page(Bucket(minute=NOW // MINUTE, shard=3)),
        "page: the next": lambda series: series.page(Bucket(minute=NOW // MINUTE, shard=3), key_of(FIRST.id).due, 7),
        "listed: all": lambda series: series.listed(OWNER, None, None, 50),
        "listed: of a group, the next": lambda series: series.listed(OWNER, "g", SeriesEntry(group="g", series=ID), 50),
        "cursors": lambda series: series.cursors(OWNER, [ID, OTHER_ID]),
        "definitions": lambda series: series.definitions(OWNER, [ID, OTHER_ID]),
        "live": lambda series: series.live(OWNER, 10),
        "live: two pages": Case(lambda series: series.live(OWNER, 10), (MORE,)),
        "create": lambda series: series.create(CREATED),
        "create: relaxed, without a name": lambda series: series.create(
            SeriesTransaction(cursor=evolve(BEGUN, current=RELAXED.id), over=None, put=(RELAXED,), definition=PLAIN)
        ),
        "create: with a name of one that is over": lambda series: series.create(
            evolve(CREATED, over_name=OTHER_ID, unchanged=OF_ANOTHER)
        ),
        "create: again after a transaction of somebody else": Case(
            lambda series: series.create(CREATED), (cancelled("TransactionConflict"),)
        ),
        "note": lambda series: series.note(SeriesTransaction(cursor=evolve(BEGUN, revision=2, made_up=1), over=BEGUN)),
        "note: it gives a name up, and its row expires": lambda series: series.note(
            SeriesTransaction(
                cursor=evolve(CANCELLED, current=FIRST.id),
                over=BEGUN,
                definition=DEFINITION,
                over_definition=DEFINITION,
                uses=(SeriesUse(connection="crm", until=NOW + DAY),),
            )
        ),
        "step": lambda series: series.step(STEP),
        "step: relaxed": lambda series: series.step(
            SeriesTransaction(cursor=evolve(STEPPED, current=RELAXED.id), over=BEGUN, put=(RELAXED,))
        ),
        "step: with all that a cursor may say": lambda series: series.step(
            SeriesTransaction(cursor=FILLED, over=STEPPED, put=(FIRST, RELAXED))
        ),
        "step: it changes with its definition, and uses a connection": lambda series: series.step(
            evolve(
                STEP,
                definition=RENAMED,
                over_definition=DEFINITION,
                put_request=evolve(KEY, number=2, state="active"),
                over_request=evolve(KEY, expires_at=NOW - DAY),
                uses=(SeriesUse(connection="crm", is_checked=True), SeriesUse(connection="erp", until=NOW + DAY)),
            )
        ),
        "step: it waits no longer": lambda series: series.step(evolve(STEP, over=WAITS)),
        "write: it waits": lambda series: series.write(SeriesTransaction(cursor=WAITS, over=BEGUN)),
        "write: it is paused, and its occurrence ends": lambda series: series.write(
            SeriesTransaction(cursor=PAUSED, over=BEGUN, ends=(END,), delete=(key_of(FIRST.id),))
        ),
        "write: an occurrence in place of a relaxed one": lambda series: series.write(
            SeriesTransaction(
                cursor=STEPPED,
                over=evolve(BEGUN, current=RELAXED.id),
                put=(SECOND,),
                ends=(LedgerChange(row=evolve(END.row, revision=2), over=END.row),),
                delete=(key_of(RELAXED.id),),
                definition=RENAMED,
                over_definition=DEFINITION,
                uses=(SeriesUse(connection="crm", is_checked=True),),
            )
        ),
        "write: a relaxed occurrence, which it names beside": lambda series: series.write(
            SeriesTransaction(cursor=evolve(BEGUN, revision=2, beside=(RELAXED.id,)), over=BEGUN, put=(RELAXED,))
        ),
        "write: it is over": lambda series: series.write(
            SeriesTransaction(cursor=CANCELLED, over=BEGUN, definition=DEFINITION, over_definition=DEFINITION)
        ),
        "write: it is revived": lambda series: series.write(
            SeriesTransaction(
                cursor=evolve(STEPPED, revision=3),
                over=CANCELLED,
                put=(SECOND,),
                definition=DEFINITION,
                over_definition=DEFINITION,
            )
        ),
    },
)

ROUND = Round(label="2026b", began=NOW, part=3, after=f"{OWNER}#{ID}", is_over=True)
PROGRESS = Subject(
    adapter=StoredSeriesProgress,
    made=lambda client: StoredSeriesProgress(store=DynamoStore(client), table="control"),
    cases={
        "place": lambda progress: progress.place(),
        "reach": lambda progress: progress.reach(NetPosition(minute=NOW // MINUTE, shard=3, after=FIRST.id)),
        "round: of those that wait": lambda progress: progress.round(Directory.WAITING),
        "round: of those with a zone": lambda progress: progress.round(Directory.ZONED),
        "note: of those that wait": lambda progress: progress.note(Directory.WAITING, Round(label="l", began=NOW)),
        "note: of those with a zone": lambda progress: progress.note(Directory.ZONED, ROUND),
    },
)

FILED = Filed(schedule_id=FIRST.id, owner=OWNER, series=ID)
HERE, THERE = address_of(FIRST.id).bucket, Bucket(minute=NOW // MINUTE + 5, shard=2)
FOUND = {"Item": to_attributes({**filed_key(FIRST.id), **filed_values(OWNER, ID)})}
UPKEEP = Subject(
    adapter=StoredSeriesUpkeep,
    made=lambda client: StoredSeriesUpkeep(store=DynamoStore(client), table="registry"),
    cases={
        "look_again": lambda upkeep: upkeep.look_again(FILED, THERE),
        "forget": lambda upkeep: upkeep.forget(FILED, THERE),
        "carry: from its address": Case(lambda upkeep: upkeep.carry(key_of(FIRST.id).due, HERE, THERE), (FOUND,)),
        "carry: from elsewhere": Case(lambda upkeep: upkeep.carry(key_of(FIRST.id).due, THERE, HERE), (FOUND,)),
        "carry: it is gone": lambda upkeep: upkeep.carry(key_of(FIRST.id).due, THERE, HERE),
        "listed: those that wait": lambda upkeep: upkeep.listed(Directory.WAITING, 0),
        "listed: those with a zone, the next": lambda upkeep: upkeep.listed(Directory.ZONED, 7, f"{OWNER}#{ID}", 50),
    },
)

SUBJECTS = (SERIES, PROGRESS, UPKEEP)
