"""The lists by which series go on without an event: what is filed again, and the directories."""

import pytest
from attrs import define, evolve

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Put, entry_key
from delayer.engines.store.store import Store
from delayer.schedule.instants import MINUTE
from delayer.schedule.schedule_id import Bucket, address_of
from delayer.series.ports import Filed, SeriesKey, SeriesTransaction, SeriesUpkeep
from delayer.series.repository.series_table import StoredSeries, current_list, directory_writes, filed_values
from delayer.series.repository.upkeep import StoredSeriesUpkeep
from delayer.series.rules.series import PARTS, Cursor, Directory, SeriesDefinition, SeriesState
from tests.clients import ERRORS, Failing
from tests.contract.series.test_series_table import adapter as series_adapter
from tests.samples import NOW, OWNER, a_definition, a_schedule

ADAPTER = StoredSeriesUpkeep
FIRST, SECOND = a_schedule(), a_schedule(NOW + MINUTE)
HERE = address_of(FIRST.id).bucket
LATER = evolve(HERE, minute=HERE.minute + 15)
LISBON = '{"cron": "0 9 * * *", "timeZone": "Europe/Lisbon"}'
FILED = Filed(schedule_id=FIRST.id, owner=OWNER, series="0a")


@define
class Stand:
    """Both ports."""

    series: StoredSeries
    upkeep: SeriesUpkeep

    def create(self, series: str, repeat: str = LISBON, state: SeriesState = SeriesState.ACTIVE) -> SeriesTransaction:
        """A series of its own."""
        current = "" if state is SeriesState.WAITING else FIRST.id
        cursor = Cursor(series=series, owner=OWNER, state=state, number=1, current=current, at=NOW)
        definition = SeriesDefinition(owner=OWNER, repeat=repeat, definition=a_definition(), created_at=NOW)
        transaction = SeriesTransaction(cursor=cursor, over=None, definition=definition)
        assert self.series.write(transaction)
        return transaction

    def change(self, created: SeriesTransaction, state: SeriesState, repeat: str = "") -> SeriesTransaction:
        """To another state, and to another rule."""
        cursor = evolve(created.cursor, revision=created.cursor.revision + 1, state=state)
        old = created.definition
        assert old
        new = evolve(old, revision=old.revision + 1, repeat=repeat) if repeat else old
        transaction = SeriesTransaction(cursor=cursor, over=created.cursor, definition=new, over_definition=old)
        assert self.series.write(transaction)
        return transaction

    def listed(self, directory: Directory) -> list[str]:
        """All of a directory."""
        pages = [self.upkeep.listed(directory, part) for part in range(PARTS[directory])]
        assert all(key.owner == OWNER for page in pages for key in page.keys)
        return sorted(key.series for page in pages for key in page.keys)


@pytest.fixture
def stand(store: Store) -> Stand:
    table = series_adapter(store)
    return Stand(table, StoredSeriesUpkeep(store=store, table=table.registry_table))


def test_what_is_filed_again_is_found_in_both_minutes(stand: Stand) -> None:
    stand.create("0a")
    stand.upkeep.look_again(FILED, LATER)
    stand.upkeep.look_again(FILED, LATER)
    assert stand.series.page(HERE).filed == (FILED,)
    assert stand.series.page(LATER).filed == (FILED,)


def test_it_is_forgotten_in_one_minute_only(stand: Stand) -> None:
    stand.create("0a")
    stand.upkeep.look_again(FILED, LATER)
    stand.upkeep.forget(FILED, LATER)
    stand.upkeep.forget(FILED, LATER)
    assert stand.series.page(LATER).filed == ()
    assert stand.series.filed(FIRST.id) == FILED
    stand.upkeep.forget(FILED, HERE)
    assert stand.series.filed(FIRST.id) is None


def test_a_page_goes_on_where_the_last_one_ended_in_a_minute_of_others(stand: Stand) -> None:
    """Of occurrences with addresses in several minutes, as the net files them again in one."""
    filed = [evolve(FILED, schedule_id=one.id) for one in (FIRST, SECOND)]
    for one in filed:
        stand.upkeep.look_again(one, LATER)
    page = stand.series.page(LATER, at_most=1)
    assert page.filed == (filed[0],)
    assert page.more == address_of(FIRST.id).sort_key(FIRST.id)
    assert stand.series.page(LATER, page.more, at_most=5).filed == (filed[1],)


UNREAD = address_of(SECOND.id).sort_key(SECOND.id)
OF_A_LATER_VERSION = {"v": 2, "more": "of a later version"}


def put_unread(stand: Stand, entry: str = UNREAD, bucket: Bucket = HERE) -> None:
    """As a later version would file it."""
    key = entry_key(current_list(bucket), entry)
    stand.series.store.write(Put(stand.series.registry_table, key, OF_A_LATER_VERSION))


def test_what_cannot_be_read_is_kept_apart_and_holds_up_no_other(stand: Stand) -> None:
    put_unread(stand)
    stand.create("0a")
    page = stand.series.page(HERE)
    assert (page.filed, page.unread) == ((FILED,), (UNREAD,))
    first = stand.series.page(HERE, at_most=1)
    rest = stand.series.page(HERE, first.more, at_most=1)
    assert (first.filed, rest.unread) == ((FILED,), (UNREAD,))


def test_what_cannot_be_read_is_carried_on_as_it_is(stand: Stand) -> None:
    put_unread(stand)
    stand.upkeep.carry(UNREAD, HERE, LATER)
    assert (stand.series.page(HERE).unread, stand.series.page(LATER).unread) == ((), (UNREAD,))
    stand.upkeep.carry(UNREAD, HERE, evolve(LATER, shard=9))
    assert stand.series.page(evolve(LATER, shard=9)).unread == (), "it is not there any more"
    key = entry_key(current_list(LATER), UNREAD)
    assert stand.series.store.get(stand.series.registry_table, key) == {**key, **OF_A_LATER_VERSION}


def test_at_its_own_address_it_stays_since_events_look_it_up(stand: Stand) -> None:
    home = address_of(SECOND.id).bucket
    put_unread(stand, bucket=home)
    stand.upkeep.carry(UNREAD, home, LATER)
    assert (stand.series.page(home).unread, stand.series.page(LATER).unread) == ((UNREAD,), (UNREAD,))


def test_what_is_no_id_cannot_be_read(store: Store) -> None:
    table = series_adapter(store)
    store.write(Put(table.registry_table, entry_key(current_list(HERE), "0#x"), filed_values(OWNER, "0a")))
    page = table.page(HERE, at_most=1)
    assert page.unread == ("0#x",)
    assert table.page(HERE, page.more or "0#x", at_most=1).unread == ()
    StoredSeriesUpkeep(store=store, table=table.registry_table).carry("0#x", HERE, LATER)
    assert (table.page(HERE).unread, table.page(LATER).unread) == ((), ("0#x",))


def test_series_that_wait_are_listed(stand: Stand) -> None:
    stand.create("0a")
    waiting = stand.create("0b", state=SeriesState.WAITING)
    assert stand.listed(Directory.WAITING) == ["0b"]
    stand.change(waiting, SeriesState.ACTIVE)
    assert stand.listed(Directory.WAITING) == []
    stand.change(stand.create("0c", state=SeriesState.WAITING), SeriesState.PAUSED)
    assert stand.listed(Directory.WAITING) == []


def test_what_is_listed_already_costs_no_write(stand: Stand) -> None:
    """A series that waits, and goes on waiting under another rule with a zone."""
    waiting = stand.create("0a", state=SeriesState.WAITING)
    assert len(directory_writes("t", waiting)) == 2
    assert directory_writes("t", stand.change(waiting, SeriesState.WAITING, LISBON)) == []


def test_series_whose_times_depend_on_the_tz_database_are_listed(stand: Stand) -> None:
    for series, repeat in {
        "0a": LISBON,
        "0b": '{"every": "PT1M"}',
        "0c": '{"cron": "0 9 * * *", "timeZone": "UTC"}',
        "0d": '{"every": "P1M", "timeZone": "America/Sao_Paulo"}',
    }.items():
        stand.create(series, repeat)
    assert stand.listed(Directory.ZONED) == ["0a", "0d"]


def test_they_are_listed_as_long_as_they_have_a_zone_and_are_not_over(stand: Stand) -> None:
    one = stand.create("0a")
    two = stand.create("0b")
    three = stand.create("0c", '{"every": "PT1M"}')
    stand.change(one, SeriesState.CANCELLED)
    stand.change(two, SeriesState.ACTIVE, '{"cron": "0 9 * * *"}')
    changed = stand.change(three, SeriesState.PAUSED, LISBON)
    assert stand.listed(Directory.ZONED) == ["0c"]
    ended = stand.change(changed, SeriesState.ENDED)
    assert stand.listed(Directory.ZONED) == []
    stand.change(ended, SeriesState.ACTIVE, LISBON)
    assert stand.listed(Directory.ZONED) == ["0c"]


def test_a_directory_has_pages(stand: Stand) -> None:
    for number in range(3):
        stand.create(f"0{number}", state=SeriesState.WAITING)
    page = stand.upkeep.listed(Directory.WAITING, 0, at_most=2)
    assert page.keys == (SeriesKey(owner=OWNER, series="00"), SeriesKey(owner=OWNER, series="01"))
    rest = stand.upkeep.listed(Directory.WAITING, 0, page.more, at_most=2)
    assert rest.keys == (SeriesKey(owner=OWNER, series="02"),)
    assert rest.more == ""


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_an_outage_is_unavailable(error: Exception) -> None:
    upkeep = StoredSeriesUpkeep(store=DynamoStore(Failing(error)), table="registry")
    for call in (
        lambda: upkeep.look_again(FILED, Bucket(minute=1, shard=0)),
        lambda: upkeep.forget(FILED, Bucket(minute=1, shard=0)),
        lambda: upkeep.carry("0#x", HERE, LATER),
        lambda: upkeep.listed(Directory.ZONED, 0),
    ):
        with pytest.raises(Unavailable):
            call()
