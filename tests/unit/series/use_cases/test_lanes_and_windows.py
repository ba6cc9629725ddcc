"""Series whose occurrences are in the lane without precision, and series with a flexible window."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from attrs import define, evolve, field

from delayer.accept.rules.window import offset
from delayer.accept.use_cases.cancel import Cancel
from delayer.history.model import occurrence_of
from delayer.ledger.model import EventType, State
from delayer.recurrence.rule import parse_rule
from delayer.schedule.instants import DAY, HOUR, MINUTE, SECOND, Millis, format_instant
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import IdKind, is_occurrence, is_relaxed, key_of, kind_of
from delayer.series.rules.rules import text_of
from delayer.series.rules.series import Cursor, NoSeries, SeriesDefinition
from delayer.series.rules.stepping import Happened
from delayer.series.use_cases.change import ChangeSeries, SeriesChanged
from delayer.series.use_cases.create import CreateSeries, SeriesCreated
from delayer.series.use_cases.halt import Halt
from delayer.series.use_cases.read import ReadSeries
from delayer.series.use_cases.resume import Resume, Resumed
from delayer.series.use_cases.run import RunSeries
from delayer.series.use_cases.step import StepSeries
from delayer.wiring import use_cases
from delayer.wiring.build import build
from tests.looking import all_definitions, all_rows, expire, put_definition, put_row
from tests.samples import a_claim
from tests.world import ACTION, START, World

OWNER = "owner"
DAILY = {"every": "PT24H", "anchor": format_instant(START)}


@define
class Stage:
    """One series, made over the API, and what steps it."""

    repeat: dict[str, Any]
    more: dict[str, Any] = field(factory=dict)
    world: World = field(factory=World)
    series: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        create = build(CreateSeries, self.world.ports("create"))
        body = {"repeat": self.repeat, "action": ACTION, "payload": 1, **self.more}
        answer = create(json.dumps(body).encode(), OWNER)
        assert isinstance(answer, SeriesCreated)
        self.series = answer.series

    @property
    def cursor(self) -> Cursor:
        found = self.world.series.cursor(OWNER, self.series)
        assert found
        return found

    @property
    def current(self) -> Schedule:
        found = self.world.records.read(key_of(self.cursor.current))
        assert found
        return found

    @property
    def offset(self) -> Millis:
        return offset(self.series.encode(), self.more["window"]["seconds"])

    def step(self, at: Millis, kind: EventType = EventType.CLAIMED) -> Schedule:
        """Something happens to the current occurrence at an instant; the next one."""
        self.world.clock.sleep_until(at)
        build(StepSeries, self.world.ports("step"))(Happened(schedule_id=self.cursor.current, kind=kind))
        return self.current

    def breaks_its_window(self) -> None:
        """Its stored window cannot be read any more."""
        stored = all_definitions(self.world.series)[OWNER, self.series]
        broken = evolve(stored, definition=evolve(stored.definition, window="[]"))
        put_definition(self.world.series, self.series, broken)

    def change(self, **changes: Any) -> SeriesChanged:
        def changed(old: SeriesDefinition) -> SeriesDefinition:
            return evolve(old, **changes)

        answer = build(ChangeSeries, self.world.ports("change"))(OWNER, self.series, changed)
        assert isinstance(answer, SeriesChanged)
        return answer


def relaxed() -> Stage:
    return Stage(DAILY, {"precision": "relaxed"})


def test_its_occurrences_are_in_the_relaxed_table_and_nowhere_else() -> None:
    stage = relaxed()
    first, second = stage.current, stage.step(START + DAY + HOUR)
    assert first.id != second.id
    for one in (first, second):
        assert kind_of(one.id) is IdKind.RELAXED_OCCURRENCE
        assert is_relaxed(one.id)
        assert is_occurrence(one.id)
        assert key_of(one.id) in all_rows(stage.world.relaxed)
    assert all_rows(stage.world.table) == {}
    assert second.point_in_time == START + 2 * DAY


def test_it_fires_when_the_ttl_has_deleted_its_record_and_steps_by_the_event_of_its_claim() -> None:
    stage = relaxed()
    world, first = stage.world, stage.current
    world.ticking = False
    world.run_until(START + DAY + 3 * HOUR)
    assert world.reached(first) == [], "nobody sweeps it"
    expire(world.relaxed, world.clock.now())
    world.run_until(START + DAY + 4 * HOUR)
    assert len(world.reached(first)) == 1
    assert stage.step(world.clock.now()).point_in_time == START + 2 * DAY


@pytest.mark.parametrize("halt", ["pause", "delete"])
def test_a_pause_and_a_delete_end_what_lies_in_the_relaxed_table(halt: str) -> None:
    stage = relaxed()
    world, first = stage.world, stage.current
    getattr(build(Halt, world.ports("halt")), halt)(OWNER, stage.series)
    row = world.row(first)
    assert row
    assert row.state is State.CANCELLED
    assert all_rows(world.relaxed) == {}
    world.run_out(START + 2 * DAY)
    assert world.reached(first) == []


def test_a_resume_puts_a_relaxed_occurrence_again() -> None:
    stage = relaxed()
    build(Halt, stage.world.ports("halt")).pause(OWNER, stage.series)
    build(Resume, stage.world.ports("resume"))(OWNER, stage.series)
    assert kind_of(stage.current.id) is IdKind.RELAXED_OCCURRENCE


def test_its_owner_cancels_an_occurrence_by_its_own_id_and_the_series_goes_on() -> None:
    stage = relaxed()
    world, first = stage.world, stage.current
    cancel = build(Cancel, world.ports("cancel"), occurrences=use_cases.occurrences(world.ports("cancel")))
    cancel(first.id, OWNER)
    assert all_rows(world.relaxed) == {}
    assert stage.cursor.passed == first.point_in_time
    assert stage.step(START + HOUR, EventType.CANCELLED).point_in_time == START + 2 * DAY


def test_its_owner_moves_an_occurrence_within_its_lane() -> None:
    stage = relaxed()
    first = stage.current
    stage.world.replace.by_id(first.id, OWNER, point_in_time=START + 30 * HOUR, payload=None)
    moved = stage.current
    assert (kind_of(moved.id), moved.point_in_time) == (IdKind.RELAXED_OCCURRENCE, START + 30 * HOUR)
    assert [*all_rows(stage.world.relaxed)] == [key_of(moved.id)]


def test_a_change_moves_the_current_occurrence_to_the_other_lane() -> None:
    stage = relaxed()
    answer = stage.change(is_relaxed=False)
    assert answer.put
    assert kind_of(answer.put.id) is IdKind.OCCURRENCE
    assert all_rows(stage.world.relaxed) == {}
    assert [*all_rows(stage.world.table)] == [key_of(answer.put.id)]
    stage.change(is_relaxed=True)
    assert all_rows(stage.world.table) == {}
    assert [*all_rows(stage.world.relaxed)] == [key_of(stage.cursor.current)]


@pytest.mark.parametrize("more", [{"precision": "relaxed"}, {"window": {"seconds": 3_600}}], ids=["lane", "window"])
def test_what_is_to_run_now_is_precise_and_in_no_window(more: dict[str, Any]) -> None:
    stage = Stage(DAILY, more)
    build(RunSeries, stage.world.ports("run")).now(OWNER, stage.series)
    [beside] = stage.cursor.beside
    found = stage.world.table.read(key_of(beside))
    assert found
    assert (kind_of(found.id), found.point_in_time, found.definition.window) == (IdKind.OCCURRENCE, START, "")


def test_an_occurrence_is_due_at_the_same_place_of_each_window() -> None:
    stage = Stage({"every": "PT1H"}, {"window": {"seconds": 1_800}})
    for number in range(1, 6):
        current = stage.current
        which = occurrence_of(current.definition)
        time = START + number * HOUR
        assert which
        assert (which.number, which.time, stage.cursor.at) == (number, time, time)
        assert time <= current.point_in_time == time + stage.offset < time + 1_800 * SECOND
        assert json.loads(current.definition.window) == {"seconds": 1_800, "from": format_instant(time)}
        stage.step(current.point_in_time + SECOND)


def test_series_for_the_same_time_are_spread() -> None:
    world = World()
    made = [Stage({"every": "PT1H"}, {"window": {"seconds": 3_000}}, world) for _ in range(30)]
    assert len({stage.current.point_in_time for stage in made}) == 30


def test_a_claim_that_comes_after_the_next_time_of_the_rule_loses_none() -> None:
    """The window is nearly as long as the interval: the next time has come, but not its place in the window."""
    stage = Stage({"every": "PT1M"}, {"window": {"seconds": 59}})
    for number in range(1, 20):
        current = stage.current
        assert stage.cursor.at == START + number * MINUTE
        following = stage.step(current.point_in_time + 45 * SECOND)
        assert following.point_in_time == current.point_in_time + MINUTE


def test_what_was_missed_counts_from_its_place_in_the_window() -> None:
    stage = Stage({"every": "PT1M"}, {"window": {"seconds": 59}})
    following = stage.step(stage.current.point_in_time + 3 * MINUTE + SECOND)
    assert stage.cursor.at == START + 5 * MINUTE
    assert following.point_in_time == START + 5 * MINUTE + stage.offset


ENDLESS = {"every": "PT1H", "until": "2030-01-01T00:00:00Z"}  # the same times as before, and another end
HALVES = {"every": "PT30M"}


def resumed(stage: Stage) -> None:
    """After a pause, which cancels nothing: the current occurrence is at work."""
    build(Halt, stage.world.ports("halt")).pause(OWNER, stage.series)
    answer = build(Resume, stage.world.ports("resume"))(OWNER, stage.series)
    assert isinstance(answer, Resumed)
    assert answer.missed == 0


def given_another_end(stage: Stage) -> None:
    stage.change(repeat=text_of(parse_rule(ENDLESS, START)))


def given_other_times(stage: Stage) -> None:
    stage.change(repeat=text_of(parse_rule(HALVES, START)))


@pytest.mark.parametrize("overlap", ["skip", "queue-one"])
@pytest.mark.parametrize("steer", [resumed, given_another_end, given_other_times])
def test_no_call_takes_a_time_for_missed_whose_place_in_the_window_is_still_to_come(
    steer: Callable[[Stage], None], overlap: str
) -> None:
    """The first occurrence is still at work when the second time of the rule comes: its place is much later."""
    stage = Stage({"every": "PT1H"}, {"window": {"seconds": 3_500}, "overlap": overlap})
    assert stage.offset > 10 * MINUTE
    first = stage.current
    put_row(stage.world.ledger, a_claim(schedule_id=first.id, owner=OWNER))
    stage.world.clock.sleep_until(START + 2 * HOUR + 20 * SECOND)
    steer(stage)
    following = stage.step(START + 2 * HOUR + 5 * MINUTE, EventType.EXECUTED)
    assert (stage.cursor.at, following.point_in_time) == (START + 2 * HOUR, START + 2 * HOUR + stage.offset)


def test_a_window_that_cannot_be_read_stops_a_series_that_waits_for_an_end() -> None:
    stage = Stage({"every": "PT1H"}, {"window": {"seconds": 60}, "overlap": "skip"})
    put_row(stage.world.ledger, a_claim(schedule_id=stage.current.id, owner=OWNER))
    build(Halt, stage.world.ports("halt")).pause(OWNER, stage.series)
    stage.breaks_its_window()
    build(Resume, stage.world.ports("resume"))(OWNER, stage.series)
    assert (stage.cursor.state, stage.cursor.current) == ("failed", "")


def test_the_next_time_is_the_one_whose_place_in_the_window_is_next() -> None:
    stage = Stage({"every": "PT1H"}, {"window": {"seconds": 3_500}})
    stage.world.clock.sleep_until(START + HOUR + SECOND)
    read = build(ReadSeries, stage.world.ports("read"))
    found = read.by_id(stage.series, OWNER)
    assert not isinstance(found, NoSeries)
    assert found.next_at == START + HOUR


def test_a_change_of_the_window_moves_the_current_occurrence_within_it() -> None:
    stage = Stage({"every": "PT1H"}, {"window": {"seconds": 3_000}})
    definition = stage.world.series.definition(OWNER, stage.series)
    assert definition
    stage.change(definition=evolve(definition.definition, window='{"seconds":60}'))
    assert stage.current.point_in_time == START + HOUR + offset(stage.series.encode(), 60)
    stage.change(definition=evolve(definition.definition, window=""))
    assert (stage.current.point_in_time, stage.cursor.at) == (START + HOUR, START + HOUR)


def test_a_window_that_cannot_be_read_stops_the_series() -> None:
    stage = Stage({"every": "PT1H"}, {"window": {"seconds": 60}})
    cursor = stage.cursor
    stage.breaks_its_window()
    stage.world.clock.sleep_until(START + 2 * HOUR)
    build(StepSeries, stage.world.ports("step"))(Happened(schedule_id=cursor.current, kind=EventType.CLAIMED))
    assert (stage.cursor.state, stage.cursor.current) == ("failed", "")
