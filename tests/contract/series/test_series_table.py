"""Series: a step is all or nothing, one of two steppers is refused, and a repeat is no conflict."""

import json
from typing import Any

import pytest
from attrs import define, evolve

from delayer.accept.ports import Registry, RequestRow
from delayer.accept.repository import StoredRegistry
from delayer.connections.model import SeriesUse
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.expressions import from_attributes
from delayer.engines.ports import Unavailable
from delayer.engines.process import InOrder
from delayer.engines.store.model import Delete, Item, Put, entry_key
from delayer.engines.store.store import Store
from delayer.ledger.model import LedgerChange, State
from delayer.ledger.ports import Ledger
from delayer.ledger.repository import StoredLedger
from delayer.records.ports import Records
from delayer.records.repository import StoredRecords
from delayer.recurrence.terms import OnMissed
from delayer.schedule.instants import DAY, MINUTE
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import IdKind, key_of
from delayer.series.ports import Filed, SeriesEntry, SeriesKey, SeriesPage, SeriesRows, SeriesTable, SeriesTransaction
from delayer.series.repository.series_table import (
    CURSOR,
    StoredSeries,
    cursor_from,
    cursor_item,
    definition_from,
    definition_item,
    filed_key,
    filed_values,
    name_item,
    name_list,
    series_list,
)
from delayer.series.repository.series_table import (
    DEFINITION as DEFINITION_ENTRY,
)
from delayer.series.rules.series import Backfill, Cursor, Overlap, SeriesDefinition, SeriesState
from tests.clients import ERRORS, OTHER_REASONS, Failing, Wrapped
from tests.contract.conftest import create_table
from tests.contract.every_row import every_row
from tests.samples import GOLDEN, NOW, OWNER, a_claim, a_definition, a_schedule, an_id, many_schedules

ADAPTER = StoredSeries
FIRST, SECOND = a_schedule(), a_schedule(NOW + MINUTE)
ID = "0a1b2c"
DEFINITION = SeriesDefinition(
    owner=OWNER,
    repeat='{"every": "PT1M"}',
    overlap=Overlap.QUEUE_ONE,
    on_missed=OnMissed.ALL,
    definition=a_definition(group="g", tags='{"a":"é"}'),
    name="every minute",
    created_at=NOW,
)
BEGUN = Cursor(series=ID, owner=OWNER, state=SeriesState.ACTIVE, number=1, current=FIRST.id, at=NOW)
CREATED = SeriesTransaction(cursor=BEGUN, over=None, put=(FIRST,), definition=DEFINITION)
STEPPED = evolve(BEGUN, revision=2, number=2, current=SECOND.id, at=NOW + MINUTE, made_up=3)
STEP = SeriesTransaction(cursor=STEPPED, over=BEGUN, put=(SECOND,))


OTHER_ID = "ffeedd"
KEY_OF_FIRST = SeriesKey(owner=OWNER, series=ID)
KEY = RequestRow(
    owner=OWNER, key="k", digest="d", schedule_id=FIRST.id, point_in_time=NOW, expires_at=NOW + DAY, series=ID
)


def another(series: str = OTHER_ID, name: str = "every minute", **changes: Any) -> SeriesTransaction:
    """A second new series, which wants the name of the first if it is given none."""
    cursor = Cursor(series=series, owner=OWNER, state=SeriesState.ACTIVE, number=1, current=SECOND.id, at=NOW)
    definition = evolve(DEFINITION, name=name)
    return evolve(SeriesTransaction(cursor=cursor, over=None, put=(SECOND,), definition=definition), **changes)


OTHER, KEY_OF_OTHER = another(name=""), SeriesKey(owner=OWNER, series=OTHER_ID)


def over(state: SeriesState = SeriesState.CANCELLED) -> SeriesTransaction:
    """The end of the first one."""
    cursor = evolve(BEGUN, revision=2, state=state, expires_at=NOW + DAY)
    return SeriesTransaction(cursor=cursor, over=BEGUN, definition=DEFINITION, over_definition=DEFINITION)


@define
class Stand:
    """The port, and the two others whose tables it writes to."""

    series: SeriesTable
    ledger: Ledger
    schedules: Records
    registry: Registry

    def filed(self, *schedules: Schedule) -> list[str | None]:
        """The series that each is the current occurrence of."""
        found = [self.series.filed(one.id) for one in schedules]
        return [one.series if one else None for one in found]

    def stored(self, *schedules: Schedule) -> list[bool]:
        return [self.schedules.read(key_of(one.id)) == one for one in schedules]


def adapter(store: Store) -> StoredSeries:
    return StoredSeries(
        store=store,
        schedules_table=create_table(store, "bucket", "due"),
        relaxed_table=create_table(store, "bucket", "due"),
        ledger_table=create_table(store, "scheduleId"),
        registry_table=create_table(store, "list", "entry"),
    )


@pytest.fixture
def stand(store: Store) -> Stand:
    port = adapter(store)
    return Stand(
        port,
        StoredLedger(store=store, table=port.ledger_table, parallel=InOrder()),
        StoredRecords(
            store=store,
            schedules_table=port.schedules_table,
            relaxed_table=port.relaxed_table,
            waiting_table=port.schedules_table,
        ),
        StoredRegistry(
            store=store,
            schedules_table=port.schedules_table,
            relaxed_table=port.relaxed_table,
            waiting_table=port.schedules_table,
            ledger_table=port.ledger_table,
            registry_table=port.registry_table,
        ),
    )


def test_a_relaxed_occurrence_is_put_and_deleted_in_its_own_table(stand: Stand) -> None:
    """A change may also move it to the other lane: each record is in the table that its id tells."""
    relaxed = a_schedule(id=an_id(kind=IdKind.RELAXED_OCCURRENCE), created_at=NOW)
    definition = evolve(DEFINITION, is_relaxed=True)
    begun = evolve(BEGUN, current=relaxed.id)
    assert stand.series.create(SeriesTransaction(cursor=begun, over=None, put=(relaxed,), definition=definition))
    assert (stand.series.definition(OWNER, ID), stand.stored(relaxed)) == (definition, [True])
    cursor = evolve(begun, revision=2, number=2, current=SECOND.id)
    step = SeriesTransaction(cursor=cursor, over=begun, put=(SECOND,), delete=(key_of(relaxed.id),))
    assert stand.series.write(step)
    assert stand.stored(relaxed, SECOND) == [False, True]
    again = a_schedule(id=an_id(NOW + MINUTE, kind=IdKind.RELAXED_OCCURRENCE), created_at=NOW)
    third = evolve(cursor, revision=3, number=3, current=again.id)
    assert stand.series.step(SeriesTransaction(cursor=third, over=cursor, put=(again,)))
    assert stand.stored(again) == [True]


def test_the_tables_of_both_lanes(store: Store) -> None:
    port, relaxed = adapter(store), a_schedule(id=an_id(kind=IdKind.RELAXED_OCCURRENCE), created_at=NOW)
    cursor = evolve(BEGUN, beside=(relaxed.id,))
    assert port.write(SeriesTransaction(cursor=cursor, over=None, put=(FIRST, relaxed), definition=DEFINITION))
    for table, one in ((port.schedules_table, FIRST), (port.relaxed_table, relaxed)):
        assert [item["due"] for item in every_row(store, table)] == [key_of(one.id).due]


def test_a_series_that_is_not_there(stand: Stand) -> None:
    assert stand.series.cursor(OWNER, ID) is None
    assert stand.series.definition(OWNER, ID) is None
    assert stand.series.filed(FIRST.id) is None
    assert stand.series.filed_all([FIRST.id, SECOND.id]) == {}
    assert stand.series.both([KEY_OF_FIRST]) == {KEY_OF_FIRST: SeriesRows(cursor=None, definition=None)}


def test_nothing_asked_for_is_no_request() -> None:
    assert failing(ERRORS["SlowDown"]).filed_all([]) == {}
    assert failing(ERRORS["SlowDown"]).both([]) == {}


def test_what_many_events_are_about_is_read_together(stand: Stand) -> None:
    """Where occurrences are filed, and then the series of all of them."""
    assert stand.series.create(CREATED)
    assert stand.series.create(OTHER)
    third = a_schedule(NOW + 2 * MINUTE)
    filed = stand.series.filed_all([SECOND.id, third.id, FIRST.id])
    found = {one.schedule_id: one.key for one in filed.values() if isinstance(one, Filed)}
    assert found == {FIRST.id: KEY_OF_FIRST, SECOND.id: KEY_OF_OTHER}
    gone = SeriesKey(owner="someone else", series=ID)
    assert stand.series.both([KEY_OF_OTHER, gone, KEY_OF_FIRST]) == {
        KEY_OF_FIRST: SeriesRows(cursor=BEGUN, definition=DEFINITION),
        gone: SeriesRows(cursor=None, definition=None),
        KEY_OF_OTHER: SeriesRows(cursor=OTHER.cursor, definition=OTHER.definition),
    }


@pytest.mark.parametrize("entry", [CURSOR, DEFINITION_ENTRY])
def test_what_cannot_be_read_says_nothing_of_the_others(store: Store, entry: str) -> None:
    """It may be of a later version."""
    port = adapter(store)
    assert port.create(CREATED)
    assert port.create(OTHER)
    for item in (cursor_item(BEGUN), definition_item(ID, DEFINITION)):
        if item["entry"] == entry:
            plant(port, {**item, "v": 2})
    plant(port, {**filed_key(FIRST.id), **filed_values(OWNER, ID), "v": 2})
    filed = port.filed_all([FIRST.id, SECOND.id])
    assert isinstance(filed[FIRST.id], Unavailable)
    assert filed[SECOND.id] == Filed(schedule_id=SECOND.id, owner=OWNER, series=OTHER_ID)
    both = port.both([KEY_OF_FIRST, KEY_OF_OTHER])
    assert isinstance(both[KEY_OF_FIRST], Unavailable)
    assert both[KEY_OF_OTHER] == SeriesRows(cursor=OTHER.cursor, definition=OTHER.definition)


def test_only_what_was_not_answered_is_not_known(dynamodb: Any) -> None:
    """It is asked for again a few times, and then what came is told."""
    port = adapter(DynamoStore(dynamodb))
    assert port.create(CREATED)
    assert port.create(OTHER)
    asked: list[int] = []

    def partly(RequestItems: dict[str, Any]) -> Any:  # noqa: N803 - boto3's own name
        """All but what begins with this series, or is filed for its occurrence."""
        [(table, wanted)] = RequestItems.items()
        assert wanted["ConsistentRead"] is True
        asked.append(len(wanted["Keys"]))
        left = [key for key in wanted["Keys"] if ID in key["list"]["S"] or FIRST.id in key["entry"]["S"]]
        rest = [key for key in wanted["Keys"] if key not in left]
        answer = dynamodb.batch_get_item(RequestItems={table: {**wanted, "Keys": rest}}) if rest else {}
        return {"Responses": answer.get("Responses", {}), "UnprocessedKeys": {table: {"Keys": left}}}

    slow = evolve(port, store=DynamoStore(Wrapped(dynamodb, batch_get_item=partly)))
    filed = slow.filed_all([FIRST.id, SECOND.id])
    assert isinstance(filed[FIRST.id], Unavailable)
    assert filed[SECOND.id] == Filed(schedule_id=SECOND.id, owner=OWNER, series=OTHER_ID)
    assert asked == [2, 1, 1, 1, 1, 1]
    both = slow.both([KEY_OF_FIRST, KEY_OF_OTHER])
    assert isinstance(both[KEY_OF_FIRST], Unavailable)
    assert both[KEY_OF_OTHER] == SeriesRows(cursor=OTHER.cursor, definition=OTHER.definition)


def test_what_is_read_together_is_what_is_read_one_by_one(dynamodb: Any) -> None:
    """The same items, strongly consistent: DynamoDB bills each by itself, whatever request it is in."""
    client = Wrapped(dynamodb)
    port = adapter(DynamoStore(client))
    client.calls.clear()
    port.filed_all([FIRST.id, SECOND.id])
    port.both([KEY_OF_FIRST, KEY_OF_OTHER])
    together = [read for _, asked in client.calls for read in asked["RequestItems"].values()]
    client.calls.clear()
    for one, series in ((FIRST, ID), (SECOND, OTHER_ID)):
        port.filed(one.id)
        port.cursor(OWNER, series)
        port.definition(OWNER, series)
    alone = [asked for _, asked in client.calls]
    assert (len(together), len(alone)) == (2, 6)
    assert all(read["ConsistentRead"] for read in [*together, *alone])
    keys = [key for read in together for key in read["Keys"]]
    assert sorted(keys, key=str) == sorted((read["Key"] for read in alone), key=str)


def test_it_is_created_with_its_first_occurrence(stand: Stand) -> None:
    assert stand.series.create(CREATED)
    assert stand.series.cursor(OWNER, ID) == BEGUN
    assert stand.series.definition(OWNER, ID) == DEFINITION
    assert stand.filed(FIRST) == [ID]
    assert stand.stored(FIRST) == [True]


def test_it_is_found_by_its_name_and_listed_by_its_group(stand: Stand) -> None:
    assert (stand.series.named(OWNER, "every minute"), stand.series.live(OWNER, 10)) == ("", 0)
    stand.series.create(CREATED)
    assert stand.series.named(OWNER, "every minute") == ID
    assert stand.series.named("somebody", "every minute") == ""
    here = SeriesPage(entries=(SeriesEntry(group="g", series=ID),))
    assert [stand.series.listed(OWNER, group, None, 5) for group in ("g", None, "", "h")] == [
        here,
        here,
        SeriesPage(entries=()),
        SeriesPage(entries=()),
    ]
    assert stand.series.live(OWNER, 10) == 1


def test_the_series_of_an_owner_are_listed_in_pages(stand: Stand) -> None:
    wanted = [(group, f"{group}{number}") for group in ("", "a", "ab") for number in range(3)]
    for group, series in reversed(wanted):
        definition = evolve(DEFINITION, name="", definition=a_definition(group=group))
        cursor = evolve(BEGUN, series=series)
        assert stand.series.create(SeriesTransaction(cursor=cursor, over=None, definition=definition))
    found: list[tuple[str, str]] = []
    after = None
    for _ in range(6):
        page = stand.series.listed(OWNER, None, after, 2)
        found += [(one.group, one.series) for one in page.entries]
        if not (after := page.more):
            break
    assert found == wanted
    assert [one.series for one in stand.series.listed(OWNER, "a", None, 9).entries] == ["a0", "a1", "a2"]
    assert stand.series.live(OWNER, 100) == 9
    assert stand.series.live(OWNER, 4) >= 4
    cursors = stand.series.cursors(OWNER, ["a1", "ab2", "gone"])
    assert {one: cursor.series for one, cursor in cursors.items()} == {"a1": "a1", "ab2": "ab2"}
    definitions = stand.series.definitions(OWNER, ["a1", "gone"])
    assert {one: definition.definition.group for one, definition in definitions.items()} == {"a1": "a"}


def test_a_name_is_given_once(stand: Stand) -> None:
    """And nothing of the second series is written."""
    stand.series.create(CREATED)
    assert not stand.series.create(another())
    assert stand.series.create(another(name="another"))
    assert stand.series.cursor(OWNER, ID) == BEGUN


def test_the_name_of_a_series_that_is_over_is_given_again(stand: Stand) -> None:
    stand.series.create(CREATED)
    stand.series.write(over(SeriesState.ENDED))
    assert (stand.series.named(OWNER, "every minute"), stand.series.live(OWNER, 10)) == (ID, 0)
    assert not stand.series.create(another(over_name="third")), "it must be known who had it"
    assert stand.series.create(another(over_name=ID, unchanged=over(SeriesState.ENDED).cursor))
    assert stand.series.named(OWNER, "every minute") == OTHER_ID
    again = evolve(BEGUN, revision=3)
    revived = SeriesTransaction(
        cursor=again, over=over(SeriesState.ENDED).cursor, definition=DEFINITION, over_definition=DEFINITION
    )
    assert not stand.series.write(revived), "its name is another's now"


def test_a_name_is_not_taken_from_a_series_that_was_revived_meanwhile(stand: Stand) -> None:
    stand.series.create(CREATED)
    ended = over(SeriesState.ENDED)
    stand.series.write(ended)
    again = evolve(BEGUN, revision=3)
    revived = SeriesTransaction(cursor=again, over=ended.cursor, definition=DEFINITION, over_definition=DEFINITION)
    assert stand.series.write(revived)
    assert stand.series.live(OWNER, 10) == 1
    assert not stand.series.create(another(over_name=ID, unchanged=ended.cursor))
    assert stand.series.named(OWNER, "every minute") == ID


def test_who_ends_a_series_says_when_its_other_rows_expire() -> None:
    cursor = evolve(BEGUN, revision=2, state=SeriesState.ENDED, expires_at=NOW)
    with pytest.raises(ValueError, match="its definition"):
        SeriesTransaction(cursor=cursor, over=BEGUN)


def test_all_rows_of_a_series_that_is_over_expire(store: Store) -> None:
    port = adapter(store)
    port.create(CREATED)
    assert [one for one in expiries(store, port) if one is not None] == []
    port.write(over())
    assert set(expiries(store, port)) == {(NOW + DAY) // 1000, None}, "that of the file of current ones stays"
    assert expiries(store, port).count(None) == 1


def test_a_series_that_is_over_is_kept_for_longer_but_its_name(store: Store) -> None:
    """Another series may have the name now."""
    port = adapter(store)
    port.create(CREATED)
    port.write(over(SeriesState.ENDED))
    port.create(another(over_name=ID, unchanged=over(SeriesState.ENDED).cursor))
    assert port.write(renewal())
    found = expiries(store, port)
    assert found.count((NOW + 90 * DAY) // 1000) == 3, "cursor, definition and the place in the list"
    assert port.named(OWNER, "every minute") == OTHER_ID


def test_who_keeps_a_series_for_longer_has_its_definition(stand: Stand) -> None:
    stand.series.create(CREATED)
    stand.series.write(over(SeriesState.ENDED))
    with pytest.raises(ValueError, match="its definition"):
        evolve(renewal(), definition=None)
    assert stand.series.write(renewal())
    assert stand.series.cursor(OWNER, ID) == renewal().cursor
    assert stand.series.named(OWNER, "every minute") == ID


def test_a_revived_series_takes_its_name_back_that_has_expired_before_it(store: Store) -> None:
    port = adapter(store)
    port.create(CREATED)
    port.write(over(SeriesState.ENDED))
    port.write(renewal())
    store.write(Delete(port.registry_table, entry_key(name_list(OWNER, "every minute"))))
    again = evolve(BEGUN, revision=4)
    revived = SeriesTransaction(cursor=again, over=renewal().cursor, definition=DEFINITION, over_definition=DEFINITION)
    assert port.write(revived)
    assert port.named(OWNER, "every minute") == ID


def renewal() -> SeriesTransaction:
    """It has ended, and something of it runs once more."""
    ended = over(SeriesState.ENDED).cursor
    cursor = evolve(ended, revision=3, beside=(SECOND.id,), expires_at=NOW + 90 * DAY)
    return SeriesTransaction(cursor=cursor, over=ended, definition=DEFINITION, over_definition=DEFINITION)


def expiries(store: Store, port: StoredSeries) -> list[int | None]:
    return [item.get("expiresAt") for item in every_row(store, port.registry_table)]


def test_a_new_group_moves_its_place_in_the_list(stand: Stand) -> None:
    stand.series.create(CREATED)
    moved = evolve(DEFINITION, revision=2, definition=evolve(DEFINITION.definition, group="h"))
    cursor = evolve(BEGUN, revision=2, definition_revision=2)
    change = SeriesTransaction(cursor=cursor, over=BEGUN, definition=moved, over_definition=DEFINITION)
    assert stand.series.write(change)
    assert stand.series.listed(OWNER, None, None, 5).entries == (SeriesEntry(group="h", series=ID),)


def test_an_idempotency_key_is_used_once(stand: Stand) -> None:
    assert stand.series.create(evolve(CREATED, put_request=KEY))
    mine = evolve(KEY, series=OTHER_ID, schedule_id=SECOND.id, expires_at=NOW + 2 * DAY)
    assert not stand.series.create(another(name="another", put_request=mine))
    assert stand.registry.requested(OWNER, "k") == KEY
    assert not stand.series.create(another(name="another", put_request=mine, over_request=evolve(KEY, expires_at=NOW)))
    assert stand.series.create(another(name="another", put_request=mine, over_request=KEY)), "it has expired"
    assert stand.registry.requested(OWNER, "k") == mine


def test_create_takes_the_place_of_nothing(stand: Stand) -> None:
    with pytest.raises(ValueError, match="write"):
        stand.series.create(STEP)


@pytest.mark.parametrize("series", ["other", f"{OWNER}#{ID}", "x" * 65, ""], ids=["other", "with #", "long", "empty"])
def test_no_made_up_id_finds_it(stand: Stand, series: str) -> None:
    stand.series.write(CREATED)
    assert stand.series.cursor(OWNER, series) is None
    assert stand.series.cursor("somebody", ID) is None


def test_no_made_up_id_finds_that_of_an_owner_with_a_longer_name(stand: Stand) -> None:
    """The name of a list holds both: without a look at the id, two pairs would have the same list."""
    made, owner = another(), f"{OWNER}#more"
    cursor, definition = evolve(made.cursor, owner=owner), evolve(DEFINITION, owner=owner)
    assert stand.series.write(evolve(made, cursor=cursor, definition=definition))
    assert stand.series.cursor(owner, OTHER_ID) is not None
    assert stand.series.cursor(OWNER, f"more#{OTHER_ID}") is None


def test_a_step_moves_the_cursor_the_record_and_the_file(stand: Stand) -> None:
    stand.series.write(CREATED)
    assert stand.series.write(STEP)
    assert stand.series.cursor(OWNER, ID) == STEPPED
    assert stand.filed(FIRST, SECOND) == [None, ID]
    assert stand.stored(FIRST, SECOND) == [True, True], "what was put is for the relay to claim"


def test_of_two_steps_one_is_refused_and_writes_nothing(stand: Stand) -> None:
    other = a_schedule(NOW + 2 * MINUTE)
    stand.series.write(CREATED)
    stand.series.write(STEP)
    late = SeriesTransaction(cursor=evolve(STEPPED, current=other.id), over=BEGUN, put=(other,))
    assert not stand.series.write(late)
    assert not stand.series.write(evolve(CREATED, cursor=evolve(BEGUN, number=7)))
    assert stand.series.cursor(OWNER, ID) == STEPPED
    assert stand.stored(other) == [False]
    assert stand.filed(other, SECOND) == [None, ID]


def test_a_repeat_is_no_conflict(stand: Stand) -> None:
    assert stand.series.write(CREATED)
    assert stand.series.write(CREATED)
    assert stand.series.write(STEP)
    assert stand.series.write(STEP)
    assert not stand.series.write(CREATED), "it has moved on since"


def test_a_pause_puts_nothing_and_leaves_the_current_one_on_file(stand: Stand) -> None:
    """An event of its end is still looked up, and finds that the series is paused."""
    stand.series.write(CREATED)
    paused = evolve(BEGUN, revision=2, state=SeriesState.PAUSED)
    assert stand.series.write(SeriesTransaction(cursor=paused, over=BEGUN))
    assert stand.series.cursor(OWNER, ID) == paused
    assert stand.filed(FIRST) == [ID]


def test_a_note_is_a_cursor_and_no_more(stand: Stand) -> None:
    """A pause may not put anything; who only puts may not end anything."""
    stand.series.create(CREATED)
    paused = evolve(BEGUN, revision=2, state=SeriesState.PAUSED)
    noted = SeriesTransaction(cursor=paused, over=BEGUN)
    for more in (
        evolve(noted, put=(SECOND,)),
        evolve(noted, cursor=evolve(paused, current=SECOND.id)),
        evolve(noted, put_request=KEY),
        evolve(noted, delete=(key_of(FIRST.id),)),
        evolve(noted, over=None),
    ):
        with pytest.raises(ValueError, match="is written by"):
            stand.series.note(more)
    with pytest.raises(ValueError, match="is written by"):
        stand.series.step(evolve(STEP, ends=(LedgerChange(row=a_claim(state=State.REPLACED)),)))
    assert stand.series.note(noted)
    assert stand.series.note(noted), "a repeat is no conflict"
    assert not stand.series.note(evolve(noted, cursor=evolve(paused, state=SeriesState.CANCELLED)))
    assert stand.series.cursor(OWNER, ID) == paused


def test_a_note_ends_the_series_with_its_name_and_its_entries(stand: Stand) -> None:
    """A rule with a zone has one more entry, which is deleted."""
    zoned = evolve(DEFINITION, repeat='{"cron": "0 9 * * *", "timeZone": "Europe/Lisbon"}')
    stand.series.create(evolve(CREATED, definition=zoned))
    over = evolve(BEGUN, revision=2, state=SeriesState.CANCELLED, expires_at=NOW)
    noted = SeriesTransaction(cursor=over, over=BEGUN, definition=zoned, over_definition=zoned)
    assert stand.series.note(noted)
    assert stand.series.live(OWNER, 10) == 0


def test_one_that_runs_now_is_put_beside_the_current_one_with_its_key(stand: Stand) -> None:
    stand.series.create(CREATED)
    beside = evolve(BEGUN, revision=2, beside=(SECOND.id,))
    step = SeriesTransaction(cursor=beside, over=BEGUN, put=(SECOND,), put_request=KEY)
    assert stand.series.step(step)
    assert stand.filed(FIRST, SECOND) == [ID, None]
    assert stand.stored(SECOND) == [True]
    third = evolve(beside, revision=3)
    assert not stand.series.step(SeriesTransaction(cursor=third, over=beside, put_request=KEY)), "the key is taken"


def test_a_change_of_a_paused_series_is_shown_by_its_key(stand: Stand) -> None:
    """Two calls that change the same write the same cursor and the same definition. Each has a key of its own."""
    stand.series.create(CREATED)
    changed = evolve(DEFINITION, revision=2, definition=evolve(DEFINITION.definition, payload="2"))
    cursor = evolve(BEGUN, revision=2, definition_revision=2)
    kept = evolve(KEY, schedule_id="", point_in_time=0, number=2, state="paused")
    mine = SeriesTransaction(
        cursor=cursor, over=BEGUN, definition=changed, over_definition=DEFINITION, put_request=kept
    )
    assert stand.series.write(mine)
    assert stand.series.write(mine), "a repeat is no conflict"
    assert stand.registry.requested(OWNER, "k") == kept
    assert not stand.series.write(evolve(mine, put_request=evolve(kept, key="another"))), "it was not this call"
    assert stand.registry.requested(OWNER, "another") is None


def test_a_backfill_is_filed_beside_the_current_one(stand: Stand) -> None:
    stand.series.create(CREATED)
    filling = evolve(BEGUN, revision=2, backfill=Backfill(since=1, until=NOW, at=2, current=SECOND.id, left=7))
    assert stand.series.step(SeriesTransaction(cursor=filling, over=BEGUN, put=(SECOND,)))
    assert stand.filed(FIRST, SECOND) == [ID, ID]
    over = evolve(filling, revision=3, backfill=None)
    assert stand.series.step(SeriesTransaction(cursor=over, over=filling))
    assert stand.filed(FIRST, SECOND) == [ID, None]


def test_a_change_replaces_the_current_occurrence(stand: Stand) -> None:
    """Its row, its record, the cursor and the definition at once; nothing if its row has changed meanwhile."""
    stand.series.write(CREATED)
    end = LedgerChange(row=a_claim(state=State.REPLACED, replaced_by=SECOND.id))
    definition = evolve(DEFINITION, revision=2, repeat='{"every": "PT2M"}')
    change = SeriesTransaction(
        cursor=evolve(BEGUN, revision=2, definition_revision=2, current=SECOND.id),
        over=BEGUN,
        put=(SECOND,),
        definition=definition,
        over_definition=DEFINITION,
        ends=(end,),
        delete=(key_of(FIRST.id),),
    )
    claimed = a_claim()
    stand.ledger.write([LedgerChange(row=claimed)])
    assert not stand.series.write(change)
    assert (stand.series.definition(OWNER, ID), stand.stored(FIRST, SECOND)) == (DEFINITION, [True, False])
    again = evolve(change, ends=(LedgerChange(row=evolve(end.row, revision=2), over=claimed),))
    assert stand.series.write(again)
    assert (stand.series.definition(OWNER, ID), stand.stored(FIRST, SECOND)) == (definition, [False, True])
    assert stand.filed(FIRST, SECOND) == [None, ID]
    row = stand.ledger.read(FIRST.id)
    assert row
    assert row.replaced_by == SECOND.id


def test_of_two_changes_of_the_definition_one_is_refused(stand: Stand) -> None:
    stand.series.write(CREATED)
    second = evolve(BEGUN, revision=2)
    change = SeriesTransaction(
        cursor=second, over=BEGUN, definition=evolve(DEFINITION, revision=2), over_definition=DEFINITION
    )
    assert stand.series.write(change)
    late = evolve(change, cursor=evolve(second, revision=3), over=second)
    assert not stand.series.write(late)
    assert stand.series.cursor(OWNER, ID) == second


def test_everything_that_a_cursor_says_is_kept(stand: Stand) -> None:
    whole = evolve(
        BEGUN,
        passed=NOW - 1,
        made_up=4,
        definition_revision=5,
        beside=("a", "b"),
        backfill=Backfill(since=1, until=NOW, at=2, current=SECOND.id, left=3, given_up=True),
        state=SeriesState.WAITING,
    )
    stand.series.write(SeriesTransaction(cursor=whole, over=None))
    assert stand.series.cursor(OWNER, ID) == whole
    assert stand.filed(FIRST, SECOND) == [ID, ID], "a backfill steps, too"


def test_the_current_ones_of_a_minute_are_listed_in_pages(stand: Stand) -> None:
    occurrences = many_schedules(5)
    for number, one in enumerate(occurrences):
        cursor = evolve(BEGUN, series=f"s{number}", current=one.id)
        assert stand.series.write(SeriesTransaction(cursor=cursor, over=None, put=(one,)))
    bucket = occurrences[0].address.bucket
    found: list[Filed] = []
    after = ""
    for _ in range(4):
        page = stand.series.page(bucket, after, at_most=2)
        found += page.filed
        if not (after := page.more):
            break
    assert [(one.schedule_id, one.series, one.owner) for one in found] == [
        (one.id, f"s{number}", OWNER) for number, one in enumerate(occurrences)
    ]
    assert stand.series.page(evolve(bucket, shard=bucket.shard + 1)).filed == ()


def test_a_creation_is_ten_write_units_and_fourteen_with_name_and_key(dynamodb: Any) -> None:
    """As a transaction counts each write twice."""
    writes: list[Any] = []

    def counted(**asked: Any) -> Any:
        writes.append(asked["TransactItems"])
        return dynamodb.transact_write_items(**asked)

    port = adapter(DynamoStore(Wrapped(dynamodb, transact_write_items=counted)))
    port.create(another(name=""))
    port.create(evolve(CREATED, put_request=KEY))
    assert [2 * len(one) for one in writes] == [10, 14]


def test_a_step_is_eleven_write_units_with_the_schedule_itself(dynamodb: Any) -> None:
    """Eight here, as a transaction counts each write twice; delete, claim and outcome are the other three."""
    writes: list[Any] = []

    def counted(**asked: Any) -> Any:
        writes.extend(asked["TransactItems"])
        return dynamodb.transact_write_items(**asked)

    port = adapter(DynamoStore(dynamodb))
    port.write(CREATED)
    assert evolve(port, store=DynamoStore(Wrapped(dynamodb, transact_write_items=counted))).write(STEP)
    assert 2 * len(writes) + 3 == 11


def test_of_two_changes_that_write_the_same_cursor_one_is_refused(stand: Stand) -> None:
    """Two PATCHes of a paused series at the same time: the cursor says only that there was one."""
    assert stand.series.write(CREATED)
    cursor = evolve(BEGUN, revision=2, definition_revision=2)
    first, second = (
        SeriesTransaction(
            cursor=cursor,
            over=BEGUN,
            definition=evolve(DEFINITION, revision=2, definition=a_definition(payload=payload, group="g")),
            over_definition=DEFINITION,
        )
        for payload in ('"first"', '"second"')
    )
    assert stand.series.write(first)
    assert not stand.series.write(second)
    assert stand.series.definition(OWNER, ID) == first.definition
    assert stand.series.write(first), "a repeat is no conflict"


def test_of_two_redrives_that_write_the_same_cursor_one_is_refused(stand: Stand) -> None:
    """Both are named by the cursor already, so that it says only that something was written."""
    assert stand.series.write(CREATED)
    cursor = evolve(BEGUN, revision=2)
    first, second = (
        SeriesTransaction(cursor=cursor, over=BEGUN, ends=(LedgerChange(row=a_claim(schedule_id=one, revision=1)),))
        for one in (an_id(shard=5), an_id(shard=6))
    )
    assert stand.series.write(first)
    assert not stand.series.write(second)
    assert stand.ledger.read(second.ends[0].row.schedule_id) is None
    assert stand.series.write(first), "a repeat is no conflict"


def test_an_answer_that_is_lost_is_no_loss(dynamodb: Any) -> None:
    port = adapter(DynamoStore(dynamodb))

    def lost(**asked: Any) -> Any:
        dynamodb.transact_write_items(**asked)
        raise ERRORS["read timeout"]

    with pytest.raises(Unavailable):
        evolve(port, store=DynamoStore(Wrapped(dynamodb, transact_write_items=lost))).write(CREATED)
    assert port.write(CREATED)
    assert port.cursor(OWNER, ID) == BEGUN


@pytest.mark.parametrize("error", [*ERRORS.values(), *OTHER_REASONS.values()], ids=[*ERRORS, *OTHER_REASONS])
def test_a_failure_of_aws(error: Exception) -> None:
    port = failing(error)
    with pytest.raises(Unavailable):
        port.write(STEP)
    with pytest.raises(Unavailable):
        port.cursor(OWNER, ID)
    with pytest.raises(Unavailable):
        port.filed(FIRST.id)
    with pytest.raises(Unavailable):
        port.page(FIRST.address.bucket)
    with pytest.raises(Unavailable):
        port.listed(OWNER, None, None, 5)
    with pytest.raises(Unavailable):
        port.cursors(OWNER, [ID])
    assert isinstance(port.filed_all([FIRST.id])[FIRST.id], Unavailable)
    assert isinstance(port.both([KEY_OF_FIRST])[KEY_OF_FIRST], Unavailable)


def failing(error: Exception) -> StoredSeries:
    """None of its requests is answered."""
    return StoredSeries(
        store=DynamoStore(Failing(error)),
        schedules_table="s",
        relaxed_table="x",
        ledger_table="l",
        registry_table="r",
    )


@pytest.mark.parametrize("broken", [{"v": 2}, {"state": "asleep"}, {"revision": "x"}])
def test_a_series_that_cannot_be_read_says_nothing(store: Store, broken: Item) -> None:
    """It may be one of a later version."""
    port = adapter(store)
    plant(port, {**cursor_item(BEGUN), **broken})
    with pytest.raises(Unavailable, match="cannot be read"):
        port.cursor(OWNER, ID)
    assert series_list(OWNER, ID).startswith("series#")
    assert cursor_item(BEGUN)["entry"] == CURSOR


@pytest.mark.parametrize("broken", [{"v": 2}, {"series": 7}])
def test_a_name_that_cannot_be_read_says_nothing(store: Store, broken: Item) -> None:
    port = adapter(store)
    plant(port, {**name_item(BEGUN, "daily"), **broken})
    with pytest.raises(Unavailable, match="cannot be read"):
        port.named(OWNER, "daily")


def plant(port: StoredSeries, item: Item) -> None:
    port.store.write(Put(port.registry_table, entry_key(item["list"], item["entry"]), item))


WHOLE = evolve(
    STEPPED,
    passed=NOW,
    beside=(FIRST.id,),
    state=SeriesState.ENDED,
    expires_at=NOW + DAY,
)


def golden(kind: str) -> Item:
    return from_attributes(json.loads((GOLDEN / f"series-{kind}.json").read_text()))


def test_the_golden_cursor() -> None:
    assert cursor_from(OWNER, ID, golden("cursor")) == WHOLE
    assert cursor_item(WHOLE) == golden("cursor"), "the format changed: give it a new version"


def test_the_golden_definition() -> None:
    assert definition_from(OWNER, golden("definition")) == DEFINITION
    assert definition_item(ID, DEFINITION) == golden("definition"), "the format changed: give it a new version"


STRICT = {
    "cursor": ("v", "state", "revision", "definitionRevision"),
    "definition": ("v", "repeat", "overlap", "onMissed", "schedule", "revision"),
}


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in STRICT.items() for name in names])
def test_what_must_be_there_is_missed(kind: str, name: str) -> None:
    item = golden(kind)
    del item[name]
    with pytest.raises(Unavailable, match="cannot be read"):
        _ = cursor_from(OWNER, ID, item) if kind == "cursor" else definition_from(OWNER, item)


def test_all_else_is_left_out_if_it_is_empty_and_may_be_missing() -> None:
    """But for the instant of a definition, which is always stored."""
    least = Cursor(series=ID, owner=OWNER, state=SeriesState.ENDED)
    item = {name: value for name, value in golden("cursor").items() if name in ("list", "entry", *STRICT["cursor"])}
    assert cursor_item(least) == item | {"revision": 1, "definitionRevision": 1}
    assert cursor_from(OWNER, ID, cursor_item(least)) == least
    plain = SeriesDefinition(owner=OWNER, repeat="{}", definition=a_definition())
    stored = definition_item(ID, plain)
    assert set(stored) == {"list", "entry", "createdAt", *STRICT["definition"]}
    del stored["createdAt"]
    assert definition_from(OWNER, stored) == plain


def test_a_backfill_is_stored_in_the_order_of_its_fields() -> None:
    """As each version has written it: who repeats a transaction of another version finds the same text."""
    filling = evolve(BEGUN, backfill=Backfill(since=1, until=NOW, at=2, current="a", left=3))
    assert cursor_item(filling)["backfill"] == (
        f'{{"since":1,"until":{NOW},"at":2,"current":"a","left":3,"given_up":false}}'
    )


def test_the_golden_name_and_place(store: Store) -> None:
    """A name, a place in the list of the owner, and a current occurrence on file, as they were stored once."""
    port = adapter(store)
    for kind in ("name", "entry", "current"):
        plant(port, golden(kind))
    assert port.named(OWNER, DEFINITION.name) == ID
    assert port.listed(OWNER, "g", None, 5).entries == (SeriesEntry(group="g", series=ID),)
    assert port.filed(FIRST.id) == Filed(schedule_id=FIRST.id, owner=OWNER, series=ID)


@pytest.mark.parametrize("call", ["step", "write"])
def test_what_names_a_connection_that_is_not_there_is_not_written(stand: Stand, call: str) -> None:
    """More of it is among the contracts of connections."""
    assert stand.series.create(CREATED)
    with pytest.raises(Unavailable):
        getattr(stand.series, call)(evolve(STEP, uses=(SeriesUse(connection="crm", is_checked=True),)))
    assert stand.series.cursor(OWNER, ID) == BEGUN
