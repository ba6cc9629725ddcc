"""Connections: a row changes by compare-and-set, with the note of its secret, and closes before it goes."""

from collections.abc import Callable
from typing import Any

import pytest
from attrs import define, evolve

from delayer.accept.ports import Registry, ScheduleTransaction
from delayer.accept.repository import StoredRegistry
from delayer.connections import repository as table
from delayer.connections.model import Connection, ConnectionType, SecretNote, SeriesUse, Use, closed, doomed, replaced
from delayer.connections.ports import Connections, Full, TokenRows
from delayer.connections.repository import (
    StoredConnections,
    StoredTokens,
    connection_item,
    connection_key,
    count_key,
    note_item,
)
from delayer.connections.rules import TokenRow
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Delete, Put
from delayer.engines.store.store import Store
from delayer.schedule.instants import HOUR
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import IdKind, key_of
from delayer.series.ports import SeriesTable, SeriesTransaction
from delayer.series.repository.series_table import StoredSeries
from delayer.series.rules.series import Cursor, Overlap, SeriesDefinition, SeriesState
from delayer.timing.rules import decide_time
from tests.clients import Wrapped
from tests.contract.conftest import create_table
from tests.samples import NOW, OWNER, a_definition, a_schedule, an_id

ADAPTER = StoredConnections
CRM = Connection(
    owner=OWNER,
    name="crm",
    type=ConnectionType.API_KEY,
    secret="s1",
    header="X-Api-Key",
    shown='{"headerName":"X-Api-Key"}',
    created_at=NOW,
    changed_at=NOW,
)
FOR_HOSTS = evolve(CRM, hosts=("api.example.com", "*.example.org:8443"))
NOTE = SecretNote(owner=OWNER, secret="s1", since=NOW)
SECOND = SecretNote(owner=OWNER, secret="s2", since=NOW + 1)
LATER = NOW + HOUR


@define
class Stand:
    """The port, and what writes beside it."""

    connections: Connections
    registry: Registry
    series: SeriesTable
    tokens: TokenRows

    def make(self, row: Connection = CRM) -> Connection:
        """A connection that is there."""
        note = SecretNote(owner=row.owner, secret=row.secret, since=NOW)
        self.connections.note(note)
        assert self.connections.write(row, None, note)
        return row

    def uses(self) -> list[Use]:
        """All that name it."""
        return list(self.connections.uses(OWNER, "crm", "", 100).uses)


@pytest.fixture
def stand(store: Store) -> Stand:
    table = create_table(store, "list", "entry")
    lanes = {one: create_table(store, "bucket", "due") for one in ("schedules_table", "relaxed_table")}
    ledger_table = create_table(store, "scheduleId")
    common: dict[str, Any] = {"store": store, "ledger_table": ledger_table, "registry_table": table} | lanes
    return Stand(
        connections=StoredConnections(store=store, table=table),
        registry=StoredRegistry(waiting_table=create_table(store, "bucket", "due"), **common),
        series=StoredSeries(**common),
        tokens=StoredTokens(store=store, table=table),
    )


def naming(due: int = NOW, **changes: Any) -> ScheduleTransaction:
    """A schedule that names it."""
    return ScheduleTransaction(put=a_schedule(due, **changes), connection="crm")


# ------------------------------------------------------------ the row


def test_what_was_written_is_read(stand: Stand) -> None:
    assert stand.connections.read(OWNER, "crm") is None
    stand.make()
    assert stand.connections.read(OWNER, "crm") == CRM
    assert stand.connections.read("another", "crm") is None


def test_a_repeated_write_is_done(stand: Stand) -> None:
    """Its answer was lost: its note is gone, and its row is there."""
    stand.make()
    assert stand.connections.write(CRM, None, NOTE)


def test_of_two_puts_one_wins_and_says_so(stand: Stand) -> None:
    stand.make()
    stand.connections.note(SECOND)
    late = evolve(CRM, secret="s2")
    assert not stand.connections.write(late, None, SECOND)
    assert stand.connections.read(OWNER, "crm") == CRM
    after = replaced(CRM, late)
    assert stand.connections.write(after, CRM, SECOND, doomed(CRM, LATER))
    assert stand.connections.read(OWNER, "crm") == after
    assert stand.connections.notes(LATER + 1, 10) == (doomed(CRM, LATER),)


def test_a_row_names_no_secret_whose_note_is_doomed_or_gone(stand: Stand) -> None:
    stand.connections.note(NOTE)
    assert stand.connections.doom(NOTE)
    assert not stand.connections.write(CRM, None, NOTE)
    stand.connections.forget(NOTE)
    assert not stand.connections.write(CRM, None, NOTE)
    assert stand.connections.read(OWNER, "crm") is None


def test_an_owner_has_no_more_than_are_allowed(stand: Stand, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is replaced or closed is not counted again; what was removed leaves room, once.

    Four are allowed here; that it is a hundred otherwise is said by `test_each_request_is_the_one_on_file`.
    """
    monkeypatch.setattr(table, "MOST", 4)
    rows = [evolve(CRM, name=f"c{number}", secret=f"s{number}") for number in range(4)]
    for row in rows:
        stand.make(row)
    one_more = evolve(CRM, name="more", secret="more")
    stand.connections.note(note := SecretNote(owner=OWNER, secret="more", since=NOW))
    for _ in range(2):
        with pytest.raises(Full):
            stand.connections.write(one_more, None, note)
    assert stand.connections.read(OWNER, "more") is None
    assert not stand.connections.write(evolve(rows[0], secret="more"), None, note), (
        "it is there: no matter of the count"
    )
    assert stand.connections.write(rows[0], None, note), "by an earlier try"
    stand.make(evolve(CRM, owner="another"))
    assert stand.connections.write(closed(rows[1]), rows[1])
    for _ in range(2):
        assert stand.connections.remove(rows[0], doomed(rows[0], LATER))
    assert stand.connections.write(one_more, None, note)
    with pytest.raises(Full):
        stand.make(rows[0])


def test_what_a_row_names_cannot_be_doomed(stand: Stand) -> None:
    stand.make()
    assert not stand.connections.doom(NOTE)
    assert stand.connections.notes(LATER, 10) == ()


def test_notes_come_in_the_order_of_their_instants(stand: Stand) -> None:
    for note in (SECOND, NOTE):
        stand.connections.note(note)
    assert stand.connections.notes(NOW, 10) == ()
    assert stand.connections.notes(NOW + 1, 10) == (NOTE,)
    assert stand.connections.notes(LATER, 1) == (NOTE,)
    assert stand.connections.notes(LATER, 10) == (NOTE, SECOND)


def test_a_connection_is_removed_with_its_token(stand: Stand) -> None:
    stand.make()
    token = TokenRow(owner=OWNER, name="crm", secret="s1", fetched_at=NOW)
    assert stand.tokens.write(token, None)
    assert not stand.connections.remove(closed(CRM), doomed(CRM, LATER))
    assert stand.connections.remove(CRM, doomed(CRM, LATER))
    assert stand.connections.remove(CRM, doomed(CRM, LATER))
    assert (stand.connections.read(OWNER, "crm"), stand.tokens.read(OWNER, "crm")) == (None, None)
    assert stand.connections.notes(LATER + 1, 10) == (doomed(CRM, LATER),)


def test_a_row_of_the_same_revision_may_be_another(stand: Stand) -> None:
    """It was removed and made again: who has read the one before changes nothing, and takes nothing away."""
    stand.make()
    again = evolve(CRM, secret="s2")
    assert stand.connections.remove(CRM, doomed(CRM, LATER))
    stand.make(again)
    stand.connections.note(evolve(SECOND, secret="s3"))
    late = replaced(CRM, evolve(CRM, secret="s3"))
    assert not stand.connections.write(late, CRM, evolve(SECOND, secret="s3"), doomed(CRM, LATER))
    assert not stand.connections.write(closed(CRM), CRM)
    assert not stand.connections.remove(CRM, doomed(CRM, LATER))
    assert stand.connections.read(OWNER, "crm") == again
    assert stand.connections.write(closed(again), again)


def test_connections_are_listed_by_name_and_by_owner(stand: Stand) -> None:
    rows = [evolve(CRM, name=name, secret=f"s-{name}") for name in ("b", "a", "c")]
    for row in rows:
        stand.make(row)
    stand.make(evolve(CRM, owner="another", secret="s-another"))
    page = stand.connections.listed(OWNER, "", 2)
    assert [row.name for row in page.connections] == ["a", "b"]
    assert [row.name for row in stand.connections.listed(OWNER, page.more, 2).connections] == ["c"]


# ------------------------------------------------------------ what names it


def test_a_schedule_is_put_together_with_its_place_among_the_uses(stand: Stand) -> None:
    stand.make()
    near, far = naming(), naming(LATER)
    assert all(stand.registry.create(one) for one in (near, far))
    assert stand.uses() == [Use(schedule_id=far.put.id), Use(schedule_id=near.put.id)]
    page = stand.connections.uses(OWNER, "crm", "", 1)
    assert page.uses == (Use(schedule_id=far.put.id),)
    assert stand.connections.uses(OWNER, "crm", page.more, 1).uses == (Use(schedule_id=near.put.id),)


@pytest.mark.parametrize("state", ["never there", "closed", "removed"])
def test_nothing_is_put_that_names_what_is_not_there_and_open(stand: Stand, state: str) -> None:
    """It cannot be known whether an earlier try was done."""
    if state != "never there":
        stand.make()
    if state == "closed":
        assert stand.connections.write(closed(CRM), CRM)
    if state == "removed":
        assert stand.connections.remove(CRM, doomed(CRM, LATER))
    with pytest.raises(Unavailable):
        stand.registry.create(naming())
    with pytest.raises(Unavailable):
        stand.series.create(a_series(SeriesUse(connection="crm", is_checked=True)))
    assert stand.uses() == []


def test_what_was_closed_and_opened_again_can_be_named(stand: Stand) -> None:
    stand.make()
    shut = closed(CRM)
    assert stand.connections.write(shut, CRM)
    assert stand.connections.read(OWNER, "crm") == shut
    assert stand.connections.write(closed(shut, closing=False), shut)
    assert stand.registry.create(naming())


def test_what_is_decided_takes_the_place_of_what_waited(stand: Stand) -> None:
    stand.make()
    waited = a_schedule(id=an_id(kind=IdKind.UNDECIDED), when='{"policy":"spread"}')
    assert stand.registry.create(ScheduleTransaction(put=waited, connection="crm"))
    put = a_schedule(LATER)
    change: Any = decide_time(waited.id, OWNER, None, NOW, put.id, "by spread")
    transaction = ScheduleTransaction(put=put, delete=key_of(waited.id), end=change, connection="crm")
    assert stand.registry.decide(transaction)
    assert stand.uses() == [Use(schedule_id=put.id)]


def a_series(*uses: SeriesUse, put: Schedule | None = None) -> SeriesTransaction:
    """A new one."""
    put = put or a_schedule()
    definition = SeriesDefinition(
        owner=OWNER, repeat='{"every":"PT1M"}', overlap=Overlap.ALLOW, definition=a_definition(), created_at=NOW
    )
    cursor = Cursor(series="0a1b", owner=OWNER, state=SeriesState.ACTIVE, number=1, current=put.id, at=NOW)
    return SeriesTransaction(cursor=cursor, over=None, put=(put,), definition=definition, uses=uses)


def test_a_series_is_listed_once_and_before_all_schedules(stand: Stand) -> None:
    stand.make()
    assert stand.registry.create(naming(LATER))
    assert stand.series.create(a_series(SeriesUse(connection="crm", is_checked=True)))
    assert stand.uses()[0] == Use(series="0a1b")
    begun = a_series().cursor
    over = evolve(begun, revision=2, current="", state=SeriesState.ENDED)
    left = SeriesUse(connection="crm", until=LATER)
    assert stand.series.write(SeriesTransaction(cursor=over, over=begun, uses=(left,)))
    assert stand.uses()[0] == Use(series="0a1b", until=LATER)
    assert len(stand.uses()) == 2


# ------------------------------------------------------------ the adapter alone


@pytest.fixture
def adapter(store: Store) -> StoredConnections:
    return StoredConnections(store=store, table=create_table(store, "list", "entry"))


@pytest.mark.parametrize("count", [None, 0])
def test_a_connection_goes_though_its_count_is_lost(adapter: StoredConnections, count: int | None) -> None:
    """It falls below nought by no DELETE: as many more would be let in."""
    assert adapter.write(CRM, None)
    key = count_key(OWNER)
    adapter.store.write(Delete(adapter.table, key))
    if count is not None:
        adapter.store.write(Put(adapter.table, key, {"count": count}))
    assert adapter.remove(CRM, NOTE)
    assert adapter.read(OWNER, "crm") is None
    left = adapter.store.get(adapter.table, key) or {}
    assert left.get("count") == (None if count is None else 0)


def test_what_fails_says_so(dynamodb: Any) -> None:
    """And nothing of it is taken for an answer."""
    missing = StoredConnections(store=DynamoStore(dynamodb), table="no-such-table")
    calls: list[Callable[[], object]] = [
        lambda: missing.read(OWNER, "crm"),
        lambda: missing.listed(OWNER, "", 1),
        lambda: missing.uses(OWNER, "crm", "", 1),
        lambda: missing.write(CRM, None, NOTE),
        lambda: missing.remove(CRM, doomed(CRM, NOW)),
        lambda: missing.note(NOTE),
        lambda: missing.notes(NOW, 1),
        lambda: missing.doom(NOTE),
        lambda: missing.forget(NOTE),
    ]
    for call in calls:
        with pytest.raises(Unavailable):
            call()


def test_a_row_of_a_later_version_says_nothing(adapter: StoredConnections) -> None:
    adapter.store.write(Put(adapter.table, connection_key(OWNER, "crm"), connection_item(CRM) | {"v": 2}))
    with pytest.raises(Unavailable):
        adapter.read(OWNER, "crm")


def test_there_is_room_for_many_transactions_at_a_time(dynamodb: Any) -> None:
    """Two that check the same item are in each other's way: they check one of several."""
    sent: list[Any] = []

    def note(**arguments: Any) -> Any:
        sent.append(arguments["TransactItems"])

    registry = StoredRegistry(
        store=DynamoStore(Wrapped(dynamodb, transact_write_items=note)),
        schedules_table="s",
        relaxed_table="r",
        waiting_table="w",
        ledger_table="l",
        registry_table="g",
    )
    for at in range(64):
        registry.create(naming(NOW + at))
    checked = {str(one["ConditionCheck"]["Key"]) for items in sent for one in items if "ConditionCheck" in one}
    assert len(checked) == 8


def test_what_every_version_has_must_be_there_and_the_rest_may_be_missing() -> None:
    item = connection_item(evolve(CRM, shown="", created_at=0, changed_at=0, closing=True))
    assert item == {
        **connection_key(OWNER, "crm"),
        "v": 1,
        "type": "api-key",
        "secret": "s1",
        "header": "X-Api-Key",
        "shown": "",
        "revision": 1,
        "createdAt": 0,
        "changedAt": 0,
        "closing": True,
    }
    few = {name: item[name] for name in ("list", "entry", "v", "type", "secret", "header", "revision")}
    assert table.connection_from(OWNER, few) == evolve(CRM, shown="", created_at=0, changed_at=0)
    for name in ("v", "type", "secret", "header", "revision"):
        with pytest.raises(Unavailable):
            table.connection_from(OWNER, {one: value for one, value in few.items() if one != name})


def test_a_note_holds_no_value() -> None:
    assert set(note_item(NOTE)) == {"list", "entry", "owner"}


def test_hosts_are_kept_and_an_item_of_an_earlier_version_has_none() -> None:
    item = connection_item(FOR_HOSTS)
    assert item["hosts"] == ["api.example.com", "*.example.org:8443"]
    assert table.connection_from(OWNER, item) == FOR_HOSTS
    assert "hosts" not in connection_item(CRM)
    assert table.connection_from(OWNER, connection_item(CRM)) == CRM
