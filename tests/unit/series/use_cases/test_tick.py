"""Each tick goes on with the rounds: series that wait, and those whose times a new tz database changes."""

from itertools import count, islice

import pytest
from attrs import evolve

from delayer.engines.ports import Unavailable
from delayer.ledger.model import State
from delayer.schedule.instants import DAY, HOUR, MINUTE, YEAR, Millis
from delayer.schedule.schedule_id import IdKind, key_of, kind_of
from delayer.series.ports import SeriesKey
from delayer.series.repository.series_table import StoredSeries, part_key, part_list
from delayer.series.rules.series import Directory, SeriesState
from delayer.series.use_cases.tick import Renew, SeriesTick
from tests.samples import OWNER
from tests.unit.series.upkeep.stage import EACH_MINUTE, Stage
from tests.world import START

LISBON = '{"cron": "0 9 * * *", "timeZone": "Europe/Lisbon"}'
NINE = START + DAY  # in winter it is 09:00 there when it is 09:00 in UTC


class Times:
    """A rule by a tz database that does not exist."""

    def __init__(self, *times: Millis) -> None:
        self.times = times

    def next_after(self, at: Millis) -> Millis | None:
        return next((one for one in self.times if one > at), None)


def with_version(stage: Stage, version: str, *times: Millis) -> SeriesTick:
    """The tick of a release with another tz database."""
    renew = stage.tick.renew_series
    assert isinstance(renew, Renew)
    changed = evolve(renew, rule_of=lambda _: Times(*times)) if times else renew
    return evolve(stage.tick, tz_version=lambda: version, renew_series=changed)


def test_a_new_version_replaces_the_current_occurrence_in_one_transaction() -> None:
    stage = Stage()
    old = stage.create(at=NINE, repeat=LISBON)
    with_version(stage, "2026f", NINE, NINE + DAY)()
    assert stage.cursor().current == old
    with_version(stage, "2027a", NINE + HOUR, NINE + DAY + HOUR)()
    cursor = stage.cursor()
    assert (cursor.number, cursor.at, cursor.current != old) == (1, NINE + HOUR, True)
    assert kind_of(cursor.current) is IdKind.OCCURRENCE
    row = stage.world.ledger.read(old)
    assert row
    assert (row.state, row.replaced_by) == (State.REPLACED, cursor.current)
    assert stage.world.table.read(key_of(old)) is None
    new = stage.world.table.read(key_of(cursor.current))
    assert new
    assert new.point_in_time == NINE + HOUR
    assert stage.filed == {cursor.current}


def test_each_version_goes_through_all_series_twice_and_no_more() -> None:
    """The second time an hour later, when no function steps by the version before."""
    stage, asked = Stage(), list[str]()
    for number in range(5):
        stage.create(f"{number:02x}", at=NINE, repeat=LISBON)
    stage.create("ff", at=NINE)

    class Noting:
        def wake(self, key: SeriesKey) -> None:
            raise AssertionError

        def recompute(self, key: SeriesKey) -> None:
            asked.append(key.series)

    tick = evolve(stage.tick, renew_series=Noting(), tz_version=lambda: "2026f")  # type: ignore[arg-type] # it has what is called
    for _ in range(130):
        tick()
        stage.world.clock.move(MINUTE)
    assert sorted(asked) == sorted([f"{number:02x}" for number in range(5)] * 2)


def in_one_part(number: int) -> list[str]:
    """So many series, in the order in which a round comes to them."""
    part = part_list(Directory.ZONED, 0)
    ids = (f"{one:04x}" for one in count())
    return list(islice((one for one in ids if part_key(Directory.ZONED, OWNER, one)["list"] == part), number))


def test_a_round_waits_for_what_fails_and_then_goes_on_without() -> None:
    stage = Stage()
    series = in_one_part(101)  # two pages
    for one in series:
        stage.create(one, at=NINE, repeat=LISBON)
    asked: list[str] = []

    class Failing:
        def wake(self, key: SeriesKey) -> None:
            raise AssertionError

        def recompute(self, key: SeriesKey) -> None:
            asked.append(key.series)
            if key.series == series[3]:
                raise Unavailable("it cannot be read")

    tick = evolve(stage.tick, renew_series=Failing(), tz_version=lambda: "2026f")  # type: ignore[arg-type] # it has what is called
    for _ in range(4):
        with pytest.raises(Unavailable):
            tick()
        stage.world.clock.move(14 * MINUTE)
    assert series[-1] not in asked, "the page is tried again: most often it is an outage"
    stage.world.clock.move(5 * MINUTE)
    tick()
    assert series[-1] in asked


def test_a_series_that_others_change_all_the_time_is_renewed_by_a_later_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tick fails, and what it has not done is not noted as done."""
    stage = Stage()
    stage.create(at=NINE, repeat=LISBON)
    with_version(stage, "2026f", NINE, NINE + DAY)()
    monkeypatch.setattr(StoredSeries, "write", lambda series, transaction: False)
    with pytest.raises(Unavailable, match="1 series could not be renewed"):
        with_version(stage, "2027a", NINE + HOUR, NINE + DAY + HOUR)()
    monkeypatch.undo()
    stage.world.clock.move(MINUTE)
    with_version(stage, "2027a", NINE + HOUR, NINE + DAY + HOUR)()
    assert stage.cursor().at == NINE + HOUR


def test_a_series_that_waits_is_woken_when_its_time_comes_near() -> None:
    stage = Stage()
    far = START + 10 * YEAR + 3 * DAY
    repeat = '{"every": "PT1M", "anchor": "2036-11-24T00:00:00Z", "from": "2036-11-24T12:00:00Z"}'
    stage.create(repeat=repeat, state=SeriesState.WAITING)
    stage.tick()
    assert stage.cursor().state is SeriesState.WAITING
    stage.world.clock.move(5 * DAY)
    stage.tick()
    cursor = stage.cursor()
    assert (cursor.state, cursor.number) == (SeriesState.ACTIVE, 2)
    assert cursor.at > far - 5 * DAY
    assert stage.filed == {cursor.current}
    assert stage.world.series_upkeep.listed(Directory.WAITING, 0).keys == ()


def test_a_series_that_waits_and_whose_rule_fails_stops() -> None:
    stage = Stage()
    stage.create(repeat='{"cron": "0 9 * * *", "timeZone": "Europe/Atlantis"}', state=SeriesState.WAITING)
    stage.tick()
    assert stage.cursor().state is SeriesState.FAILED
    assert stage.world.observer.counts["SeriesFailed"] == 1


def test_if_the_net_fails_the_rounds_go_on() -> None:
    stage = Stage()
    stage.create(repeat=LISBON, at=NINE)

    def away(began: Millis) -> bool:
        raise Unavailable("the net is away")

    with pytest.raises(Unavailable):
        evolve(stage.tick, net=away)()
    current = stage.world.series_progress.round(Directory.ZONED)
    assert current
    assert current.is_over


def test_a_waiting_series_that_cannot_be_renewed_holds_up_no_new_times() -> None:
    """Both rounds are tried, and then the tick fails, so that its alarm rings."""
    stage, asked = Stage(), list[str]()
    stage.create("0a", repeat=EACH_MINUTE, state=SeriesState.WAITING)
    stage.create("0b", at=NINE, repeat=LISBON)

    class Failing:
        def wake(self, key: SeriesKey) -> None:
            asked.append(key.series)
            raise Unavailable("it cannot be read")

        def recompute(self, key: SeriesKey) -> None:
            asked.append(key.series)

    with pytest.raises(Unavailable, match="1 series could not be renewed"):
        evolve(stage.tick, renew_series=Failing(), tz_version=lambda: "2026f")()  # type: ignore[arg-type] # it has what is called
    assert asked == ["0a", "0b"]
