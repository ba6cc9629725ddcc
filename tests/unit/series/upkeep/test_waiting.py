"""A series whose occurrence must wait although it is due: it has only that one, and the net leaves it alone."""

from typing import Any

import pytest

from delayer.flow.rules.block import EVERY, Party
from delayer.flow.words import suspended
from delayer.ledger.model import EventType
from delayer.recurrence.terms import OnMissed
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, minute_of
from delayer.series.rules.series import Overlap
from tests.samples import OWNER
from tests.unit.series.upkeep.stage import Stage
from tests.world import START

BLOCK = suspended(Party(owner=OWNER, target=EVERY), START, "it floods", "")


def waits_for(length: int, **changes: Any) -> Stage:
    """A series of each minute while its owner is suspended, with all that runs each minute; in big steps at last."""
    stage = Stage()
    stage.world.blocks.change(BLOCK)
    stage.create(**changes)
    while stage.world.clock.now() < START + length:
        stage.world.run_until(stage.world.clock.now() + MINUTE)
        stage.tick()
    return stage


def released(stage: Stage) -> int:
    """When the occurrence that waited has reached its target, and its series was stepped by the event of that."""
    first = stage.cursor().current
    stage.world.blocks.remove(BLOCK)
    stage.world.run_until(stage.world.clock.now() + 15 * MINUTE)
    [(at, message)] = stage.world.target.reached
    assert message.schedule.id == first
    stage.react([stage.event(first, EventType.EXECUTED)])
    return at


def test_for_a_day_it_has_only_one_occurrence_and_disturbs_nobody() -> None:
    """It takes some seconds: all that runs each minute runs for a day."""
    stage = waits_for(DAY)
    world, cursor = stage.world, stage.cursor()
    assert (cursor.number, cursor.at) == (1, START + MINUTE)
    assert world.ledger.read(cursor.current) is None, "unclaimed: a cancel would still be answered 200"
    assert world.observer.counts["SeriesHealed"] == 0
    assert world.observer.counts["SeriesStepped"] == 0
    place = world.series_progress.place()
    assert place
    assert place.minute >= minute_of(world.clock.now()) - 12, "it holds up no watermark"
    assert len(stage.again) == 1, "filed once more, and not twice"
    assert world.delayer_queue.sent < 120, "once in a quarter of an hour, after a few minutes at first"


@pytest.mark.parametrize("on_missed", OnMissed, ids=str)
def test_what_passed_meanwhile_was_missed(on_missed: OnMissed) -> None:
    """As after any other wait: skipped, the last one made up, or all of them. A second: two hours, minute by minute."""
    stage = waits_for(2 * HOUR, on_missed=on_missed)
    released(stage)
    after, now = stage.cursor(), stage.world.clock.now()
    assert after.number == 2
    if on_missed is OnMissed.SKIP:
        assert after.at > now
    elif on_missed is OnMissed.ONCE:
        assert now - MINUTE < after.at <= now
    else:
        assert after.at == START + 2 * MINUTE


@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE_ONE], ids=str)
def test_it_goes_on_whatever_its_overlap(overlap: Overlap) -> None:
    stage = waits_for(HOUR, overlap=overlap)
    assert stage.cursor().number == 1
    fired = released(stage)
    assert fired - START < HOUR + 15 * MINUTE + SECOND
    assert stage.cursor().number == 2
