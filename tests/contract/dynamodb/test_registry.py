"""Names, and one schedule in place of another: all of it or nothing, and a repeat is no conflict."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from attrs import define, evolve

from delayer.accept.ports import NameRow, Registry, RequestRow, ScheduleTransaction
from delayer.accept.repository import (
    StoredRegistry,
    member_item,
    name_from,
    name_item,
    put_whole,
    request_from,
    request_item,
)
from delayer.accept.rules.status import decide_replace
from delayer.accept.use_cases.once import with_name
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.expressions import from_attributes
from delayer.engines.ports import Unavailable
from delayer.engines.process import InOrder
from delayer.engines.sqlite.store import SqliteStore
from delayer.engines.store.model import ItemChange, kind_of
from delayer.engines.store.store import Store
from delayer.history.ports import Member, Members
from delayer.ledger.model import LedgerChange, LedgerRow, State, named
from delayer.ledger.ports import Ledger, Written
from delayer.ledger.repository import StoredLedger
from delayer.ledger.rules import ended, ended_unclaimed
from delayer.records.ports import Records
from delayer.records.repository import StoredRecords, put_record
from delayer.schedule.instants import HOUR, MINUTE
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import FAR, IdKind, key_of
from delayer.timing.rules import decide_time
from tests.clients import ERRORS, OTHER_REASONS, Failing, Wrapped, cancelled
from tests.contract.conftest import create_table
from tests.samples import (
    GOLDEN,
    NOW,
    OWNER,
    a_claim,
    a_definition,
    a_relaxed_schedule,
    a_schedule,
    an_id,
    many_schedules,
)

OLD = a_schedule()
NEW = a_schedule(NOW + HOUR)
OTHER = a_schedule(NOW + 2 * HOUR)
NAME = "invoice 17"
ADAPTER = StoredRegistry
REPLACED = a_claim(state=State.REPLACED, replaced_by=NEW.id)


@define
class Stand:
    """The port, and the two others whose tables it writes to."""

    registry: Registry
    ledger: Ledger
    schedules: Records

    def commit(self, transaction: ScheduleTransaction) -> bool:
        """By the method that may do no more than it must."""
        replaces = transaction.delete or transaction.end
        return self.registry.replace(transaction) if replaces else self.registry.create(transaction)

    def write(self, row: LedgerRow, over: LedgerRow | None = None) -> None:
        """A row of the ledger, from somebody else."""
        assert self.ledger.write([LedgerChange(row=row, over=over)]) == [Written()]

    def all_of(self, *schedules: Schedule) -> list[object]:
        """All that can be read of them."""
        rows = [self.ledger.read(one.id) for one in schedules]
        return [*rows, *[self.schedules.read(key_of(one.id)) for one in schedules], self.registry.named(OWNER, NAME)]


def repository(store: Store) -> StoredRegistry:
    return StoredRegistry(
        store=store,
        schedules_table=create_table(store, "bucket", "due"),
        relaxed_table=create_table(store, "bucket", "due"),
        waiting_table=create_table(store, "bucket", "due"),
        ledger_table=create_table(store, "scheduleId"),
        registry_table=create_table(store, "list", "entry"),
    )


@pytest.fixture
def stand(store: Store) -> Stand:
    port = repository(store)
    return Stand(
        port,
        StoredLedger(store=store, table=port.ledger_table, parallel=InOrder()),
        StoredRecords(
            store=store,
            schedules_table=port.schedules_table,
            relaxed_table=port.relaxed_table,
            waiting_table=port.waiting_table,
        ),
    )


def begun(schedule: Schedule, name: str = NAME) -> LedgerRow:
    return named(schedule.id, OWNER, name, NOW)


def name_of(schedule: Schedule, name: str = NAME, owner: str = OWNER) -> NameRow:
    return NameRow(owner=owner, name=name, schedule_id=schedule.id)


def created(schedule: Schedule = OLD) -> ScheduleTransaction:
    """The first schedule of a name."""
    return ScheduleTransaction(put=schedule, put_row=begun(schedule), put_name=name_of(schedule))


def replaced(old: Schedule = OLD, new: Schedule = NEW) -> ScheduleTransaction:
    """A named schedule in place of its namesake."""
    return ScheduleTransaction(
        put=new,
        put_row=begun(new),
        put_name=name_of(new),
        over_name=name_of(old),
        delete=key_of(old.id),
        end=end_of(begun(old), new),
    )


def end_of(row: LedgerRow, new: Schedule) -> LedgerChange:
    return LedgerChange(row=evolve(ended(row, State.REPLACED, NOW), replaced_by=new.id), over=row)


def unnamed() -> ScheduleTransaction:
    """A schedule without a name, and without a row, in place of another."""
    return ScheduleTransaction(put=NEW, delete=key_of(OLD.id), end=LedgerChange(row=REPLACED))


def test_a_new_name_has_no_holder(stand: Stand) -> None:
    assert stand.registry.named(OWNER, NAME) is None


def test_a_named_schedule_has_its_record_its_row_and_its_name(stand: Stand) -> None:
    """At once: whoever sees one of them sees all."""
    assert stand.commit(created())
    assert stand.all_of(OLD) == [begun(OLD), OLD, name_of(OLD)]


def test_what_replaces_may_find_nothing_to_replace(stand: Stand) -> None:
    """A PUT creates the first schedule of a name."""
    assert stand.registry.replace(created())
    assert stand.all_of(OLD) == [begun(OLD), OLD, name_of(OLD)]
    assert stand.registry.replace(created(NEW)) is False


def test_a_name_belongs_to_its_owner(stand: Stand) -> None:
    """The same name of somebody else is another."""
    assert stand.commit(created())
    assert stand.registry.named("somebody else", NAME) is None
    other = evolve(created(OTHER), put_name=name_of(OTHER, owner="somebody else"))
    assert stand.commit(other)
    assert stand.registry.named(OWNER, NAME) == name_of(OLD)


def test_a_namesake_takes_its_place(stand: Stand) -> None:
    """The old one has its end and no record; the new one all three."""
    stand.commit(created())
    assert stand.commit(replaced())
    end = end_of(begun(OLD), NEW).row
    assert stand.all_of(OLD, NEW) == [end, begun(NEW), None, NEW, name_of(NEW)]


def test_a_name_moves_on_from_what_has_ended(stand: Stand) -> None:
    """The row of the old one stays as it is."""
    stand.commit(created())
    transaction = evolve(created(NEW), over_name=name_of(OLD))
    assert stand.commit(transaction)
    assert stand.all_of(OLD, NEW) == [begun(OLD), begun(NEW), OLD, NEW, name_of(NEW)]


def test_a_schedule_without_a_row_is_replaced(stand: Stand) -> None:
    stand.schedules.put(OLD)
    assert stand.commit(unnamed())
    assert stand.all_of(OLD, NEW) == [REPLACED, None, None, NEW, None]


def test_the_record_of_the_old_one_may_be_gone(stand: Stand) -> None:
    """It has been swept, and waits in the queue: its row alone decides."""
    assert stand.commit(unnamed())
    assert stand.ledger.read(OLD.id) == REPLACED


def a_claim_came_first(stand: Stand) -> ScheduleTransaction:
    stand.schedules.put(OLD)
    stand.write(a_claim())
    return unnamed()


def the_row_went_on(stand: Stand) -> ScheduleTransaction:
    stand.commit(created())
    stand.write(a_claim(revision=2, name=NAME), begun(OLD))
    return replaced()


def the_row_expired(stand: Stand) -> ScheduleTransaction:
    stand.commit(created())
    row = begun(OTHER)
    return evolve(replaced(), end=end_of(row, NEW))


def the_name_was_given(stand: Stand) -> ScheduleTransaction:
    stand.commit(created())
    return created(NEW)


def the_name_moved_on(stand: Stand) -> ScheduleTransaction:
    stand.commit(created())
    stand.commit(evolve(created(OTHER), over_name=name_of(OLD)))
    return replaced()


def the_name_is_gone(stand: Stand) -> ScheduleTransaction:
    stand.write(begun(OLD))
    return replaced()


def the_new_one_has_a_row(stand: Stand) -> ScheduleTransaction:
    stand.commit(created())
    stand.write(evolve(begun(NEW), name="another"))
    return replaced()


OBSTACLES: list[Callable[[Stand], ScheduleTransaction]] = [
    a_claim_came_first,
    the_row_went_on,
    the_row_expired,
    the_name_was_given,
    the_name_moved_on,
    the_name_is_gone,
    the_new_one_has_a_row,
]


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=lambda obstacle: obstacle.__name__)
def test_what_changed_meanwhile_stops_all_of_it(stand: Stand, obstacle: Callable[[Stand], ScheduleTransaction]) -> None:
    """One condition failed: nothing is written, nothing deleted."""
    transaction = obstacle(stand)
    before = stand.all_of(OLD, NEW, OTHER)
    assert stand.commit(transaction) is False
    assert stand.all_of(OLD, NEW, OTHER) == before


@pytest.mark.parametrize("transaction", [created(), replaced(), unnamed()], ids=["created", "replaced", "unnamed"])
def test_a_repeat_is_done_and_writes_nothing(stand: Stand, transaction: ScheduleTransaction) -> None:
    """Its answer was lost, and the new schedule has moved on meanwhile: its record must not come back."""
    if transaction.end and transaction.end.over:
        stand.commit(created())
    assert stand.commit(transaction)
    stand.schedules.delete([key_of(transaction.put.id)])
    assert stand.commit(transaction)
    assert stand.schedules.read(key_of(transaction.put.id)) is None


@pytest.mark.parametrize("transaction", [created(), replaced()], ids=["created", "replaced"])
def test_a_repeat_is_done_though_the_new_one_is_claimed(stand: Stand, transaction: ScheduleTransaction) -> None:
    """One of its own rows is proof enough: they were written together."""
    if transaction.end and transaction.end.over:
        stand.commit(created())
    stand.commit(transaction)
    row = begun(transaction.put)
    stand.write(ended(row, State.CANCELLED, NOW), row)
    assert stand.commit(transaction)
    assert stand.ledger.read(transaction.put.id) == ended(row, State.CANCELLED, NOW)


def test_of_two_namesakes_one_takes_the_place(stand: Stand) -> None:
    """Both have read the same."""
    stand.commit(created())
    first, second = replaced(), replaced(new=OTHER)
    assert stand.commit(first)
    assert stand.commit(second) is False
    assert stand.registry.named(OWNER, NAME) == name_of(NEW)
    assert stand.schedules.read(key_of(OTHER.id)) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (a_relaxed_schedule(), a_relaxed_schedule(NOW + HOUR)),
        (a_relaxed_schedule(), NEW),
        (OLD, a_relaxed_schedule(NOW + HOUR)),
    ],
)
def test_one_in_place_of_another_of_any_lane(stand: Stand, old: Schedule, new: Schedule) -> None:
    """A name may move from one lane to the other. A repeat, whose first answer was lost, is done."""
    stand.schedules.put(old)
    end = LedgerChange(row=a_claim(schedule_id=old.id, state=State.REPLACED, replaced_by=new.id))
    transaction = ScheduleTransaction(put=new, delete=key_of(old.id), end=end)
    assert stand.registry.replace(transaction)
    assert stand.registry.replace(transaction)
    assert stand.schedules.read_all([key_of(old.id), key_of(new.id)]) == {key_of(new.id): new}


def test_a_relaxed_schedule_joins_its_group(stand: Stand) -> None:
    new = a_relaxed_schedule(group="g")
    assert stand.registry.create(ScheduleTransaction(put=new))
    assert stand.schedules.read(key_of(new.id)) == new
    assert [one.schedule_id for one in stand.registry.members(OWNER, "g", 0, NOW + HOUR, "", 10).members] == [new.id]


def test_the_stream_sees_both() -> None:
    """The new one takes the fast track if it is due soon, and the REMOVE of the old one is looked into."""
    heard: list[ItemChange] = []
    port = repository(SqliteStore(heard=heard.extend))
    port.store.write(put_record(port.schedules_table, OLD))
    port.replace(unnamed())
    records = [change for change in heard if change.table == port.schedules_table]
    assert sorted(kind_of(change) for change in records) == ["INSERT", "INSERT", "REMOVE"]


# ------------------------------------------------------------ idempotency keys


def a_request(schedule: Schedule = OLD, **changes: Any) -> RequestRow:
    row = RequestRow(
        owner=OWNER,
        key="key 1",
        digest="d1",
        schedule_id=schedule.id,
        point_in_time=schedule.point_in_time,
        expires_at=NOW + HOUR,
    )
    return evolve(row, **changes)


def test_a_key_is_kept_with_its_schedule(stand: Stand) -> None:
    assert stand.registry.requested(OWNER, "key 1") is None
    assert stand.commit(ScheduleTransaction(put=OLD, put_request=a_request()))
    assert stand.registry.requested(OWNER, "key 1") == a_request()
    assert stand.registry.requested("somebody else", "key 1") is None
    assert stand.schedules.read(key_of(OLD.id)) == OLD


def test_a_key_is_kept_with_what_takes_the_place_of_another(stand: Stand) -> None:
    """All that the answer needs; of two such calls one is written, and nothing of the other."""
    stand.schedules.put(OLD)
    kept = a_request(NEW, replaces=OLD.id)
    transaction = evolve(unnamed(), put_request=kept)
    assert stand.registry.replace(transaction)
    assert stand.registry.requested(OWNER, "key 1") == kept
    assert stand.registry.replace(transaction), "a repeat is done"
    other = ScheduleTransaction(put=OTHER, put_request=a_request(OTHER, replaces=OLD.id))
    assert stand.registry.replace(other) is False
    assert stand.schedules.read_all([key_of(one.id) for one in (OLD, NEW, OTHER)]) == {key_of(NEW.id): NEW}


def test_a_key_may_keep_the_change_of_a_series(stand: Stand) -> None:
    """Whoever wrote it, the answer comes back whole."""
    kept = a_request(series="0a1b", number=7, state="paused", replaces=NEW.id)
    stand.commit(ScheduleTransaction(put=OLD, put_request=kept))
    assert stand.registry.requested(OWNER, "key 1") == kept


def test_an_expired_key_without_a_schedule_gives_way_once(stand: Stand) -> None:
    """That of a series which waited for its first time: no id tells the two apart, but their instants do."""
    waited = a_request(schedule_id="")
    stand.commit(ScheduleTransaction(put=OLD, put_request=waited))
    again = evolve(waited, expires_at=NOW + 3 * HOUR)
    assert stand.commit(ScheduleTransaction(put=NEW, put_request=again, over_request=waited))
    late = ScheduleTransaction(put=OTHER, put_request=a_request(OTHER), over_request=waited)
    assert stand.commit(late) is False


def test_of_two_calls_with_one_key_one_stores(stand: Stand) -> None:
    stand.commit(ScheduleTransaction(put=OLD, put_request=a_request()))
    assert stand.commit(ScheduleTransaction(put=NEW, put_request=a_request(NEW))) is False
    assert stand.schedules.read(key_of(NEW.id)) is None
    assert stand.registry.requested(OWNER, "key 1") == a_request()


def test_an_expired_key_gives_way(stand: Stand) -> None:
    """DynamoDB deletes it some time after it has expired."""
    stand.commit(ScheduleTransaction(put=OLD, put_request=a_request()))
    later = ScheduleTransaction(put=NEW, put_request=a_request(NEW), over_request=a_request())
    assert stand.commit(later)
    assert stand.registry.requested(OWNER, "key 1") == a_request(NEW)
    other = ScheduleTransaction(put=OTHER, put_request=a_request(OTHER), over_request=a_request())
    assert stand.commit(other) is False, "somebody was faster"


def test_a_repeat_with_a_key_is_done(stand: Stand) -> None:
    transaction = ScheduleTransaction(put=OLD, put_request=a_request())
    stand.commit(transaction)
    stand.schedules.delete([key_of(OLD.id)])
    assert stand.commit(transaction)
    assert stand.schedules.read(key_of(OLD.id)) is None


# ------------------------------------------------------------ groups


def members(stand: Stand, number: int, group: str = "g") -> list[str]:
    schedules = [evolve(one, definition=a_definition(group=group)) for one in many_schedules(number)]
    for schedule in reversed(schedules):
        assert stand.commit(ScheduleTransaction(put=schedule))
    return [schedule.id for schedule in schedules]


@pytest.mark.parametrize(("number", "page"), [(0, 3), (1, 3), (3, 3), (7, 3), (9, 3)])
def test_a_group_is_read_page_by_page_in_due_order(stand: Stand, number: int, page: int) -> None:
    ids = members(stand, number)
    members(stand, 2, "another")
    found: list[str] = []
    after = ""
    while True:
        got = stand.registry.members(OWNER, "g", 0, NOW + HOUR, after, page)
        assert len(got.members) <= page
        found += [member.schedule_id for member in got.members]
        after = got.more
        if not after:
            break
    assert found == ids


def test_a_group_is_read_within_its_bounds(stand: Stand) -> None:
    """From the first instant on, before the second."""
    ids = members(stand, 5)
    created = a_schedule().created_at
    expected = tuple(Member(schedule_id=schedule_id, created_at=created) for schedule_id in ids)
    assert stand.registry.members(OWNER, "g", NOW + 1, NOW + 4, "", 10).members == expected[1:4]
    assert stand.registry.members(OWNER, "g", NOW + 1, NOW + 4, ids[1], 10).members == expected[2:4]


def test_a_group_belongs_to_its_owner(stand: Stand) -> None:
    members(stand, 2)
    assert stand.registry.members("somebody else", "g", 0, NOW + HOUR, "", 10) == Members(members=(), more="")


# ------------------------------------------------------------ the adapter alone


def golden(kind: str) -> dict[str, Any]:
    return from_attributes(json.loads((GOLDEN / f"registry-{kind}.json").read_text()))


def test_the_golden_name() -> None:
    assert name_from(OWNER, NAME, golden("name")) == name_of(OLD)
    assert name_item(name_of(OLD)) == golden("name"), "the format changed: give it a new version"


def test_the_golden_request() -> None:
    assert request_from(OWNER, "key 1", golden("request")) == a_request()
    assert request_item(a_request()) == golden("request"), "the format changed: give it a new version"


def test_the_golden_request_of_a_change() -> None:
    """Of a series, which has all that a row may have."""
    row = a_request(series="0a1b2c", replaces=NEW.id, number=7, state="active")
    assert request_from(OWNER, "key 1", golden("request-of-a-change")) == row
    assert request_item(row) == golden("request-of-a-change"), "the format changed: give it a new version"


def test_the_golden_member() -> None:
    assert member_item(a_schedule(group="g"), a_schedule().created_at) == golden("member"), (
        "the format changed: give it a new version"
    )


@pytest.mark.parametrize("change", [{"v": 2}, {"v": None}, {"scheduleId": None}], ids=str)
def test_what_cannot_be_read_says_nothing(store: Store, change: dict[str, Any]) -> None:
    """Written by a later version: nobody may act as if there were none."""
    port = repository(store)
    for item in (name_item(name_of(OLD)), request_item(a_request())):
        changed = {name: value for name, value in {**item, **change}.items() if value is not None}
        store.write(put_whole(port.registry_table, changed))
    with pytest.raises(Unavailable, match="cannot be read"):
        port.named(OWNER, NAME)
    with pytest.raises(Unavailable, match="cannot be read"):
        port.requested(OWNER, "key 1")


def test_all_is_read_strongly_consistent(dynamodb: Any) -> None:
    client = Wrapped(dynamodb)
    port = evolve(repository(DynamoStore(dynamodb)), store=DynamoStore(client))
    port.named(OWNER, NAME)
    port.requested(OWNER, "key 1")
    port.members(OWNER, "g", 0, NOW, "", 10)
    assert [arguments["ConsistentRead"] for _, arguments in client.calls] == [True] * 3


def test_a_transaction_is_one_request(dynamodb: Any) -> None:
    """Also one that is refused: the current row comes with the refusal. Only the records are without a condition."""
    client = Wrapped(dynamodb)
    port = evolve(repository(DynamoStore(dynamodb)), store=DynamoStore(client))
    port.replace(created())
    port.replace(replaced())
    port.replace(replaced(new=OTHER))
    assert [name for name, _ in client.calls] == ["transact_write_items"] * 3
    for _, arguments in client.calls:
        writes = [write for one in arguments["TransactItems"] for write in one.values()]
        assert all(("ConditionExpression" in one) == (one["TableName"] != port.schedules_table) for one in writes)


@pytest.mark.parametrize("error", [*ERRORS.values(), *OTHER_REASONS.values()], ids=[*ERRORS, *OTHER_REASONS])
def test_what_failed_is_unavailable(error: Exception) -> None:
    """Whether it took place is not known: never taken for a condition that failed, nor for success."""
    port = StoredRegistry(
        store=DynamoStore(Failing(error)),
        schedules_table="s",
        relaxed_table="x",
        waiting_table="w",
        ledger_table="l",
        registry_table="n",
    )
    with pytest.raises(Unavailable):
        port.replace(replaced())
    for read in (
        lambda: port.named(OWNER, NAME),
        lambda: port.requested(OWNER, "key 1"),
        lambda: port.members(OWNER, "g", 0, NOW, "", 10),
    ):
        with pytest.raises(Unavailable):
            read()


@pytest.mark.parametrize(
    "change", [{"delete": key_of(OLD.id)}, {"end": LedgerChange(row=REPLACED)}], ids=["delete", "end"]
)
def test_what_only_creates_deletes_and_ends_nothing(stand: Stand, change: dict[str, Any]) -> None:
    """Whoever may only create has no permission to delete: it is refused here, before AWS refuses it."""
    stand.schedules.put(OLD)
    with pytest.raises(ValueError, match="replace"):
        stand.registry.create(evolve(created(NEW), **change))
    assert stand.all_of(OLD, NEW) == [None, None, OLD, None, None]


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_a_creation_that_failed_is_unavailable(error: Exception) -> None:
    port = StoredRegistry(
        store=DynamoStore(Failing(error)),
        schedules_table="s",
        relaxed_table="x",
        waiting_table="w",
        ledger_table="l",
        registry_table="n",
    )
    with pytest.raises(Unavailable):
        port.create(created())


def test_a_condition_that_failed_beside_a_conflict_has_failed() -> None:
    client = Failing(cancelled("None", "TransactionConflict", "None", "ConditionalCheckFailed", "None"))
    port = StoredRegistry(
        store=DynamoStore(client),
        schedules_table="s",
        relaxed_table="x",
        waiting_table="w",
        ledger_table="l",
        registry_table="n",
    )
    assert port.replace(replaced()) is False


# ------------------------------------------------------------ what was accepted without a time


ASKED = a_schedule(
    id=an_id(NOW - MINUTE, kind=IdKind.UNDECIDED), created_at=NOW - MINUTE, group="g", when='{"policy":"p"}'
)


def decision(put: Schedule, current: LedgerRow | None) -> ScheduleTransaction:
    change = decide_time(ASKED.id, OWNER, current, NOW, put.id, "by p")
    assert isinstance(change, LedgerChange)
    return ScheduleTransaction(put=put, delete=key_of(ASKED.id), end=change)


def members_of(stand: Stand) -> list[Member]:
    return list(stand.registry.members(OWNER, "g", 0, FAR, "", 10).members)


def test_a_decision_is_all_or_nothing(stand: Stand) -> None:
    """Its row, the schedule with its time, its name, its place in the group; and what waited is gone."""
    begun = named(ASKED.id, OWNER, NAME, NOW - MINUTE)
    name = NameRow(owner=OWNER, name=NAME, schedule_id=ASKED.id)
    assert stand.registry.create(ScheduleTransaction(put=ASKED, put_row=begun, put_name=name))
    assert stand.schedules.read(key_of(ASKED.id)) == ASKED
    put = a_schedule(group="g")
    transaction = with_name(decision(put, begun), NAME, name, NOW)
    assert stand.registry.decide(transaction)
    assert stand.schedules.read(key_of(ASKED.id)) is None
    row, of_put = stand.ledger.read(ASKED.id), stand.ledger.read(put.id)
    assert row
    assert of_put
    assert (row.state, row.decided_as, of_put.name) == (State.DECIDED, put.id, NAME)
    assert stand.schedules.read(key_of(put.id)) == put
    assert stand.registry.named(OWNER, NAME) == NameRow(owner=OWNER, name=NAME, schedule_id=put.id)
    assert members_of(stand) == [Member(schedule_id=put.id, created_at=ASKED.created_at)]
    assert stand.registry.decide(transaction), "repeated, because its answer was lost"


def test_a_decision_after_a_cancel_writes_nothing(stand: Stand) -> None:
    stand.registry.create(ScheduleTransaction(put=ASKED))
    cancelled_by_owner = ended_unclaimed(ASKED.id, OWNER, State.CANCELLED, NOW, "")
    stand.write(cancelled_by_owner)
    put = a_schedule(group="g")
    assert not stand.registry.decide(decision(put, None))
    assert stand.schedules.read(key_of(put.id)) is None
    assert stand.ledger.read(ASKED.id) == cancelled_by_owner
    assert [one.schedule_id for one in members_of(stand)] == [ASKED.id]


def test_what_waits_takes_the_place_of_what_waits(stand: Stand) -> None:
    stand.registry.create(ScheduleTransaction(put=ASKED))
    other = evolve(ASKED, id=an_id(NOW, kind=IdKind.UNDECIDED))
    end = decide_replace(ASKED.id, OWNER, None, other.id, NOW)
    assert isinstance(end, LedgerChange)
    assert stand.registry.replace(ScheduleTransaction(put=other, delete=key_of(ASKED.id), end=end))
    assert stand.schedules.read_all([key_of(ASKED.id), key_of(other.id)]) == {key_of(other.id): other}


@pytest.mark.parametrize("call", ["create", "replace", "decide"])
def test_what_names_a_connection_that_is_not_there_is_not_written(stand: Stand, call: str) -> None:
    """More of it is among the contracts of connections."""
    with pytest.raises(Unavailable):
        getattr(stand.registry, call)(ScheduleTransaction(put=OLD, connection="crm"))
    assert stand.schedules.read(key_of(OLD.id)) is None
