"""How far the net and the rounds came: forward only, and as it was written."""

from typing import Any

import pytest

from delayer.aws.series.progress import DynamoSeriesProgress
from delayer.core.series.upkeep.net import Place
from delayer.core.series.upkeep.rounds import Directory, Round
from delayer.fakes import MemorySeriesProgress
from delayer.ports.series_upkeep import SeriesProgress
from delayer.ports.unavailable import Unavailable
from tests.clients import ERRORS, Failing
from tests.contract.conftest import create_table
from tests.samples import NOW, an_id

ADAPTER = DynamoSeriesProgress


@pytest.fixture
def progress(dynamodb_or_fake: Any) -> SeriesProgress:
    if dynamodb_or_fake is None:
        return MemorySeriesProgress()
    return DynamoSeriesProgress(dynamodb=dynamodb_or_fake, table=create_table(dynamodb_or_fake, "name"))


def test_before_the_first_time(progress: SeriesProgress) -> None:
    assert progress.place() is None
    assert progress.round(Directory.ZONED) is None


def test_a_place_within_a_minute(progress: SeriesProgress) -> None:
    place = Place(minute=7, shard=3, after=an_id())
    progress.reach(place)
    assert progress.place() == place


@pytest.mark.parametrize("behind", [Place(minute=6, shard=9), Place(minute=7, shard=2)], ids=["minute", "shard"])
def test_it_never_goes_back(progress: SeriesProgress, behind: Place) -> None:
    """Two ticks may run at a time: the one that came less far is not believed."""
    progress.reach(Place(minute=7, shard=3))
    progress.reach(behind)
    assert progress.place() == Place(minute=7, shard=3)
    progress.reach(Place(minute=8))
    assert progress.place() == Place(minute=8)


def test_rounds_are_apart(progress: SeriesProgress) -> None:
    first = Round(label="2026f", began=NOW, part=2, after="me#0a")
    progress.note(Directory.ZONED, first)
    assert progress.round(Directory.ZONED) == first
    assert progress.round(Directory.WAITING) is None
    second = Round(label="2026g", began=NOW + 1, part=16, is_over=True)
    progress.note(Directory.ZONED, second)
    assert progress.round(Directory.ZONED) == second


@pytest.mark.parametrize("error", ERRORS.values(), ids=ERRORS)
def test_an_outage_is_unavailable(error: Exception) -> None:
    progress = DynamoSeriesProgress(dynamodb=Failing(error), table="control")
    for call in (
        progress.place,
        lambda: progress.reach(Place(minute=7)),
        lambda: progress.round(Directory.ZONED),
        lambda: progress.note(Directory.ZONED, Round(label="2026f", began=NOW)),
    ):
        with pytest.raises(Unavailable):
            call()
