"""What no event has told of is found by the net, within minutes, and after an outage of hours in portions."""

import random
from typing import Any

import pytest
from attrs import evolve

from delayer.engines.ports import Unavailable
from delayer.ledger.model import EventType, LedgerRow, State
from delayer.schedule.instants import DAY, HOUR, MINUTE, format_minute, minute_of
from delayer.schedule.schedule_id import address_of
from delayer.series.ports import SeriesTransaction
from delayer.series.repository.series_table import filed_key
from delayer.series.rules.series import SeriesState, changed
from delayer.series.rules.stepping import Happened
from delayer.series.rules.upkeep import NetPosition
from delayer.series.use_cases.tick import NET_BUDGET, Net
from tests.looking import all_rows, put_item, take_row
from tests.samples import OWNER, an_id
from tests.unit.series.upkeep.stage import Stage
from tests.world import START

DUE = START + MINUTE


def net_of(stage: Stage) -> Net:
    net = stage.tick.net
    assert isinstance(net, Net)
    return net


def place_of(stage: Stage) -> NetPosition:
    place = stage.world.series_progress.place()
    assert place
    return place


@pytest.mark.parametrize("state", [State.CLAIMED, State.DROPPED, State.DEAD_LETTERED, State.CANCELLED])
def test_a_lost_event_costs_minutes_and_no_occurrence(state: State) -> None:
    stage = Stage()
    first = stage.create(at=DUE)
    stage.happen(first, state)
    stage.go_on_until(DUE + 3 * MINUTE)
    assert stage.cursor().number == 1, "it may still come"
    stage.go_on_until(DUE + 5 * MINUTE)
    assert stage.cursor().number == 2
    assert stage.world.observer.counts["SeriesHealed"] == 1
    assert stage.filed == {stage.cursor().current}


def test_what_was_stepped_by_its_event_is_no_business_of_the_net() -> None:
    stage = Stage()
    first = stage.create(at=DUE)
    stage.world.clock.move(MINUTE)
    stage.happen(first)
    stage.react([stage.event(first)])
    after = stage.cursor()
    stage.go_on_until(after.at + 2 * MINUTE)
    assert stage.cursor() == after
    assert stage.world.observer.counts["SeriesHealed"] == 0


def test_what_is_late_is_looked_at_again_until_something_happens_to_it() -> None:
    """With overlap skip one runs for hours; one that nobody has claimed waits for the relay."""
    stage = Stage()
    late, running = stage.create("0a", at=DUE), stage.skipping("0b", at=DUE)
    stage.happen(running)
    stage.go_on_until(DUE + 6 * HOUR)
    assert (stage.cursor("0a").number, stage.cursor("0b").number) == (1, 1)
    assert place_of(stage).minute >= minute_of(DUE + 6 * HOUR) - 12, "neither holds up the watermark"
    assert len(stage.again) == 2, "each is filed once more, and not twice"
    stage.happen(late)
    stage.happen(running, State.EXECUTED)
    stage.go_on_until(DUE + 6 * HOUR + 30 * MINUTE)
    assert (stage.cursor("0a").number, stage.cursor("0b").number) == (2, 2)


def test_after_an_outage_of_hours_nothing_is_left() -> None:
    """Forty series, due in all of its minutes; while it catches up, what was over just now is looked at first."""
    stage, draws = Stage(), random.Random("outage")
    for number in range(40):
        stage.happen(stage.create(f"{number:02x}", at=DUE + draws.randrange(5 * HOUR)))
    stage.world.clock.move(6 * HOUR)
    stage.tick()
    assert [stage.cursor(f"{number:02x}").number for number in range(40)] == [2] * 40
    assert len(stage.filed) == 40
    assert place_of(stage).minute == minute_of(stage.world.clock.now()) - 10


def test_it_catches_up_in_portions() -> None:
    """Each query takes ten seconds here: a tick begins no page when its time is over, and the next one goes on."""
    stage = Stage()
    for number in range(3):
        stage.happen(stage.create(f"{number:02x}", at=DUE + number * MINUTE))
    stage.tick()
    stage.world.clock.move(20 * MINUTE)
    slow = net_of(stage)

    class Slow:
        def __getattr__(self, name: str) -> object:
            return getattr(stage.world.series, name)

        def page(self, *arguments: Any, **named: Any) -> object:
            stage.world.clock.move(NET_BUDGET // 3)
            return stage.world.series.page(*arguments, **named)

    series: Any = Slow()
    slow = evolve(slow, series=series)
    places = [place_of(stage)]
    while place_of(stage).minute < minute_of(stage.world.clock.now()) - 11:
        slow(stage.world.clock.now())
        assert place_of(stage) > places[-1], "each tick comes further"
        places.append(place_of(stage))
    assert len(places) > 3
    assert [stage.cursor(f"{number:02x}").number for number in range(3)] == [2, 2, 2]


def test_a_big_minute_is_gone_through_page_by_page() -> None:
    stage = Stage()
    for number in range(130):
        stage.happen(stage.create(f"{number:03x}", at=DUE))
    stage.go_on_until(DUE + 12 * MINUTE)
    assert {stage.cursor(f"{number:03x}").number for number in range(130)} == {2}


def test_one_series_that_fails_holds_up_no_other() -> None:
    stage = Stage()
    one, two = stage.create("0a", at=DUE), stage.create("0b", at=DUE)
    stage.happen(one)
    stage.happen(two)
    net = net_of(stage)

    def step(happened: Happened) -> None:
        if happened.schedule_id == one:
            raise ZeroDivisionError("a defect")
        net.step_series(happened)

    broken = evolve(net, step_series=step)
    for _ in range(30):
        stage.world.clock.move(MINUTE)
        broken(stage.world.clock.now())
    assert (stage.cursor("0a").number, stage.cursor("0b").number) == (1, 2)
    assert place_of(stage).minute >= minute_of(stage.world.clock.now()) - 11
    stage.go_on_until(stage.world.clock.now() + 30 * MINUTE)
    assert stage.cursor("0a").number == 2, "the next release steps it"


def test_a_series_that_cannot_be_read_is_looked_at_again() -> None:
    stage = Stage()
    stage.happen(stage.create(at=DUE))
    net = net_of(stage)

    class OfALaterVersion:
        def __getattr__(self, name: str) -> object:
            return getattr(stage.world.series, name)

        def cursor(self, owner: str, series: str) -> None:
            raise Unavailable("a cursor of a later version")

    series: Any = OfALaterVersion()
    broken = evolve(net, series=series, step_series=lambda happened: None)
    for _ in range(20):
        stage.world.clock.move(MINUTE)
        broken(stage.world.clock.now())
    assert place_of(stage).minute >= minute_of(stage.world.clock.now()) - 11
    stage.go_on_until(stage.world.clock.now() + 30 * MINUTE)
    assert stage.cursor().number == 2


def test_what_is_filed_and_cannot_be_read_holds_up_no_other_and_is_kept() -> None:
    """It may be of a later version, after a rollback: that version must find it where it will look."""
    stage = Stage()
    first = stage.create(at=DUE)
    stage.happen(first)
    other = an_id(DUE, shard=address_of(first).shard)
    key = filed_key(other)
    put_item(stage.world.series, key, {"v": 2})
    stage.go_on_until(START + HOUR)
    assert stage.cursor().number == 2
    now = minute_of(stage.world.clock.now())
    assert place_of(stage).minute >= now - 11
    ahead = [bucket for bucket, one in stage.again if one == key["entry"]]
    assert len(ahead) == 1
    assert ahead[0] >= format_minute(place_of(stage).minute)
    assert (address_of(other).bucket.key, key["entry"]) in stage.entries
    assert "the net cannot read what is filed" in stage.world.observer.warnings


def test_without_the_ledger_all_is_looked_at_again() -> None:
    stage = Stage()
    stage.happen(stage.create(at=DUE))
    net = net_of(stage)

    class Away:
        def read_all(self, schedule_ids: object) -> None:
            raise Unavailable("the ledger is away")

    ledger: Any = Away()
    for _ in range(20):
        stage.world.clock.move(MINUTE)
        evolve(net, ledger=ledger)(stage.world.clock.now())
    assert stage.cursor().number == 1
    stage.go_on_until(stage.world.clock.now() + 30 * MINUTE)
    assert stage.cursor().number == 2


def test_a_ledger_row_that_cannot_be_read_holds_up_no_other() -> None:
    stage = Stage()
    ids = [stage.create(f"{number:02x}", at=DUE) for number in range(9)]
    for one in ids:
        stage.happen(one)
    net = net_of(stage)

    class OfALaterVersion:
        def read_all(self, schedule_ids: list[str]) -> dict[str, LedgerRow]:
            if ids[4] in schedule_ids:
                raise Unavailable("a row of a later version")
            return {
                one: all_rows(stage.world.ledger)[one] for one in schedule_ids if one in all_rows(stage.world.ledger)
            }

    ledger: Any = OfALaterVersion()
    for _ in range(20):
        stage.world.clock.move(MINUTE)
        evolve(net, ledger=ledger)(stage.world.clock.now())
    assert [stage.cursor(f"{number:02x}").number for number in range(9)] == [2, 2, 2, 2, 1, 2, 2, 2, 2]
    assert place_of(stage).minute >= minute_of(stage.world.clock.now()) - 11


def test_if_it_cannot_be_filed_again_the_watermark_stays() -> None:
    stage = Stage()
    stage.create(at=DUE)
    net = net_of(stage)

    class Away:
        def __getattr__(self, name: str) -> object:
            return getattr(stage.world.series_upkeep, name)

        def look_again(self, *arguments: object) -> None:
            raise Unavailable("the registry is away")

    files: Any = Away()
    stage.world.clock.move(30 * MINUTE)
    with pytest.raises(Unavailable):
        evolve(net, series_upkeep=files)(stage.world.clock.now())
    assert place_of(stage).minute == minute_of(DUE)
    stage.tick()
    assert len(stage.again) == 1


def test_a_paused_series_is_kept_and_looked_at_rarely() -> None:
    """Its occurrence has ended. A resume that has read otherwise may make the series wait for it all the same."""
    stage = Stage()
    first = stage.skipping(at=DUE)
    change = changed(stage.cursor(), state=SeriesState.PAUSED)
    assert stage.world.series.write(SeriesTransaction(cursor=change.cursor, over=change.over))
    stage.happen(first, State.EXECUTED)
    stage.go_on_until(START + 2 * DAY, every=HOUR)
    assert len(stage.again) == 1
    resumed = changed(stage.cursor(), state=SeriesState.ACTIVE)
    assert stage.world.series.write(SeriesTransaction(cursor=resumed.cursor, over=resumed.over))
    stage.go_on_until(START + 4 * DAY, every=HOUR)
    assert stage.cursor().number > 1


def test_what_was_deleted_is_forgotten_once_its_occurrence_has_ended() -> None:
    stage = Stage()
    first = stage.create(at=DUE)
    change = changed(stage.cursor(), state=SeriesState.CANCELLED)
    assert stage.world.series.write(SeriesTransaction(cursor=change.cursor, over=change.over))
    stage.go_on_until(DUE + 30 * MINUTE)
    assert stage.filed == {first}, "the call may have died before it cancelled it"
    stage.happen(first, State.CANCELLED)
    stage.go_on_until(DUE + HOUR)
    assert stage.filed == set()
    assert stage.cursor().named == (first,), "a repeated call still finds what to cancel"


def test_what_a_restore_has_brought_back_is_forgotten() -> None:
    """A file of an occurrence that is no longer current, or whose series is gone."""
    stage = Stage()
    first = stage.create(at=DUE)
    filed = stage.world.series.filed(first)
    assert filed
    stage.react([stage.event(first, EventType.CLAIMED)])
    after = stage.cursor()
    stage.world.series_upkeep.look_again(filed, address_of(first).bucket)
    gone = stage.create("0b", at=DUE)
    take_row(stage.world.series, (OWNER, "0b"))
    stage.happen(first)
    stage.go_on_until(after.at - MINUTE + 5 * MINUTE)
    assert stage.filed & {first, gone} == set()


def test_before_anything_was_ever_scheduled_there_is_nothing_to_do() -> None:
    stage = Stage()
    stage.tick()
    assert stage.world.series_progress.place() is None
