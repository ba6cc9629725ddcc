"""How far the net and the rounds came: forward only, and as it was written."""

import pytest

from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Put, row_key
from delayer.engines.store.store import Store
from delayer.series.ports import SeriesProgress
from delayer.series.repository.upkeep import NET, StoredSeriesProgress
from delayer.series.rules.series import Directory, Round
from delayer.series.rules.upkeep import NetPosition
from tests.clients import ERRORS, Failing
from tests.contract.conftest import create_table
from tests.samples import NOW, an_id

ADAPTER = StoredSeriesProgress


@pytest.fixture
def progress(store: Store) -> SeriesProgress:
    return adapter(store)


def adapter(store: Store) -> StoredSeriesProgress:
    return StoredSeriesProgress(store=store, table=create_table(store, "name"))


def test_before_the_first_time(progress: SeriesProgress) -> None:
    assert progress.place() is None
    assert progress.round(Directory.ZONED) is None


def test_a_place_within_a_minute(progress: SeriesProgress) -> None:
    place = NetPosition(minute=7, shard=3, after=an_id())
    progress.reach(place)
    assert progress.place() == place


@pytest.mark.parametrize(
    "behind", [NetPosition(minute=6, shard=9), NetPosition(minute=7, shard=2)], ids=["minute", "shard"]
)
def test_it_never_goes_back(progress: SeriesProgress, behind: NetPosition) -> None:
    """Two ticks may run at a time: the one that came less far is not believed."""
    progress.reach(NetPosition(minute=7, shard=3))
    progress.reach(behind)
    assert progress.place() == NetPosition(minute=7, shard=3)
    progress.reach(NetPosition(minute=8))
    assert progress.place() == NetPosition(minute=8)


def test_rounds_are_apart(progress: SeriesProgress) -> None:
    first = Round(label="2026f", began=NOW, part=2, after="me#0a")
    progress.note(Directory.ZONED, first)
    assert progress.round(Directory.ZONED) == first
    assert progress.round(Directory.WAITING) is None
    second = Round(label="2026g", began=NOW + 1, part=16, is_over=True)
    progress.note(Directory.ZONED, second)
    assert progress.round(Directory.ZONED) == second


def test_what_is_empty_is_stored_and_may_be_missing(store: Store) -> None:
    """So each version writes the control rows; the least that is there is a minute, and a label with its beginning."""
    progress = adapter(store)
    rounds = row_key(f"series-{Directory.ZONED}")
    progress.reach(NetPosition(minute=7))
    progress.note(Directory.ZONED, Round(label="2026f", began=0))
    assert store.get(progress.table, row_key(NET)) == {**row_key(NET), "closedUntil": 7, "inShard": 0, "afterId": ""}
    row = {"label": "2026f", "began": 0, "part": 0, "after": "", "isOver": False}
    assert store.get(progress.table, rounds) == {**rounds, **row}
    store.write(Put(progress.table, row_key(NET), {"closedUntil": 8}))
    store.write(Put(progress.table, rounds, {"label": "2026g", "began": NOW}))
    assert progress.place() == NetPosition(minute=8)
    assert progress.round(Directory.ZONED) == Round(label="2026g", began=NOW)


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_an_outage_is_unavailable(error: Exception) -> None:
    progress = StoredSeriesProgress(store=DynamoStore(Failing(error)), table="control")
    for call in (
        progress.place,
        lambda: progress.reach(NetPosition(minute=7)),
        lambda: progress.round(Directory.ZONED),
        lambda: progress.note(Directory.ZONED, Round(label="2026f", began=NOW)),
    ):
        with pytest.raises(Unavailable):
            call()
