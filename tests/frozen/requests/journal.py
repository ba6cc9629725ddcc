"""The journal, and the count of schedules that are live."""

from attrs import evolve

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.process import InOrder
from delayer.history import cloud_events
from delayer.history.model import LifecycleEvent, Occurrence, Original
from delayer.history.ports import JournalEntry
from delayer.history.repository import StoredJournal, StoredLiveCount
from delayer.ledger.model import EventType, State
from delayer.schedule.instants import DAY, HOUR
from delayer.schedule.schedule import Schedule
from tests.frozen.recorded import Case, Subject, cancelled
from tests.samples import NOW, OWNER, a_schedule, an_id

CLAIMED = LifecycleEvent(
    id="c1", type=EventType.CLAIMED, schedule_id=an_id(), owner=OWNER, at=NOW, state=State.CLAIMED, revision=1
)
SMALL = a_schedule()
LARGE = a_schedule(payload=f'"{"x" * 5_000}"')
HUGE = a_schedule(payload=f'"{"x" * 5_000}"', tags=f'{{"t":"{"y" * 5_000}"}}')
MORE = {"Items": [], "LastEvaluatedKey": {"list": {"S": "l"}, "entry": {"S": "e"}}}


def entry(event: LifecycleEvent, occurrence: Occurrence | None = None) -> JournalEntry:
    return JournalEntry(event=event, text=cloud_events.encode(event), occurrence=occurrence)


def began(schedule: Schedule) -> LifecycleEvent:
    first = evolve(CLAIMED, id="c0", type=EventType.SCHEDULED, state=State.SCHEDULED, revision=0)
    return evolve(first, at=schedule.created_at, original=Original(schedule=schedule))


JOURNAL = Subject(
    adapter=StoredJournal,
    made=lambda client: StoredJournal(store=DynamoStore(client), table="journal", parallel=InOrder()),
    cases={
        "write": lambda journal: journal.write([entry(CLAIMED), entry(CLAIMED)], 90 * DAY),
        "write: a beginning": lambda journal: journal.write([entry(began(SMALL))], 90 * DAY),
        "write: a beginning with a large payload": lambda journal: journal.write([entry(began(LARGE))], 90 * DAY),
        "write: a beginning that is large without it": lambda journal: journal.write([entry(began(HUGE))], 90 * DAY),
        "write: an occurrence": lambda journal: journal.write(
            [entry(began(SMALL), Occurrence(series="0a1b2c", number=7, time=NOW))], 90 * DAY
        ),
        "history": lambda journal: journal.history(SMALL.id, OWNER),
        "history: two pages": Case(lambda journal: journal.history(SMALL.id, OWNER), ({}, MORE)),
        "beginnings": lambda journal: journal.beginnings(OWNER, [SMALL.id]),
        "owned": lambda journal: journal.owned(OWNER, NOW, NOW + DAY, "", 50),
        "owned: the next": lambda journal: journal.owned(OWNER, NOW, NOW + DAY, SMALL.id, 50),
        "occurrences": lambda journal: journal.occurrences(OWNER, "0a1b2c", "", 50),
        "occurrences: the next": lambda journal: journal.occurrences(OWNER, "0a1b2c", SMALL.id, 50),
    },
)

NOT_COUNTED = cancelled("ConditionalCheckFailed", "None")
LIVE_COUNT = Subject(
    adapter=StoredLiveCount,
    made=lambda client: StoredLiveCount(store=DynamoStore(client), table="journal"),
    cases={
        "started": lambda count: count.started(OWNER, SMALL.id, NOW + HOUR),
        "started: again after a transaction of somebody else": Case(
            lambda count: count.started(OWNER, SMALL.id, NOW + HOUR), (cancelled("TransactionConflict", "None"),)
        ),
        "ended": lambda count: count.ended(OWNER, SMALL.id, NOW + HOUR),
        "ended: before it was counted": Case(lambda count: count.ended(OWNER, SMALL.id, NOW + HOUR), (NOT_COUNTED,)),
        "live": lambda count: count.live(OWNER, NOW),
        "live: two pages": Case(lambda count: count.live(OWNER, NOW), (MORE,)),
    },
)

SUBJECTS = (JOURNAL, LIVE_COUNT)
