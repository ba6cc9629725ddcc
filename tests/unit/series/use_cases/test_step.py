"""A step of a series: once for each occurrence, whatever comes twice, late or out of order."""

import random
from collections.abc import Callable

import pytest
from attrs import define, evolve, field

from delayer.engines.ports import Unavailable
from delayer.history.model import Occurrence, definition_for
from delayer.ledger.model import EventType
from delayer.schedule.instants import DAY, MINUTE, YEAR, Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import IdKind, kind_of, point_in_time_of
from delayer.series.ports import SeriesTransaction
from delayer.series.repository.series_table import StoredSeries
from delayer.series.rules.series import OVER, Cursor, Overlap, RuleFailed, SeriesDefinition, SeriesState
from delayer.series.rules.stepping import Happened
from delayer.series.use_cases.step import ROUNDS, StepSeries
from delayer.series.use_cases.stored import Retention
from tests.looking import all_rows, put_row, take_definition, take_row
from tests.samples import OWNER, a_definition
from tests.tables import in_turn, preceded
from tests.world import START, World

ID = "0a1b2c"


@define
class Every:
    """A rule: each multiple of so many milliseconds, up to an end."""

    length: Millis = MINUTE
    until: Millis = START + YEAR

    def next_after(self, at: Millis) -> Millis | None:
        found = (at // self.length + 1) * self.length
        return found if found <= self.until else None


class Broken:
    """A rule that fails."""

    def next_after(self, at: Millis) -> Millis | None:
        raise RuleFailed


@define
class Stage:
    """One series of one minute, and what steps it."""

    rule: Every | Broken = field(factory=Every)
    overlap: Overlap = Overlap.ALLOW
    world: World = field(factory=World)
    series: StoredSeries = field(init=False)
    step: StepSeries = field(init=False)
    first: str = field(init=False)  # the id of its first occurrence

    def __attrs_post_init__(self) -> None:
        self.series = self.world.series
        self.step = StepSeries(
            clock=self.world.clock,
            series=self.series,
            ids=self.world.accept.ids,
            rule_of=lambda _: self.rule,
            retention=Retention(clock=self.world.clock),
            observer=self.world.observer,
        )
        definition = SeriesDefinition(
            owner=OWNER, repeat="{}", overlap=self.overlap, definition=a_definition(), created_at=START
        )
        which = Occurrence(series=ID, number=1, time=START + MINUTE)
        put = definition_for(definition.definition, which)
        first = self.world.accept.ids.issue_for(START + MINUTE, put, OWNER, kind=IdKind.OCCURRENCE)
        self.first = first.id
        cursor = Cursor(
            series=ID, owner=OWNER, state=SeriesState.ACTIVE, number=1, current=first.id, at=first.point_in_time
        )
        assert self.series.write(SeriesTransaction(cursor=cursor, over=None, put=(first,), definition=definition))

    @property
    def cursor(self) -> Cursor:
        found = self.series.cursor(OWNER, ID)
        assert found
        return found

    @property
    def dues(self) -> list[Millis]:
        """When those are due that were put."""
        return sorted(row.point_in_time for row in all_rows(self.world.table).values() if isinstance(row, Schedule))

    def happen(self, kind: EventType = EventType.CLAIMED, schedule_id: str = "") -> str:
        """Something happens to the current occurrence, or to another; its id."""
        about = schedule_id or self.cursor.current
        self.step(Happened(schedule_id=about, kind=kind))
        return about


def test_a_claim_puts_the_next_occurrence_under_an_id_that_tells_what_it_is() -> None:
    stage = Stage()
    first = stage.happen()
    cursor = stage.cursor
    assert (cursor.number, cursor.at, cursor.current != first) == (2, START + 2 * MINUTE, True)
    assert kind_of(cursor.current) is IdKind.OCCURRENCE
    assert point_in_time_of(cursor.current) == cursor.at
    assert stage.dues == [START + MINUTE, START + 2 * MINUTE]
    [(_, about, facts)] = [line for line in stage.world.observer.lines if line[0] == "stepped"]
    assert (about, facts["number"], facts["at"]) == (first, 2, cursor.at)


def test_whatever_comes_again_or_late_each_occurrence_is_put_once() -> None:
    """Events of all occurrences so far, in any order and any number."""
    draws, stage = random.Random(7), Stage()
    seen: list[str] = []
    for _ in range(300):
        seen.append(stage.cursor.current)
        about = draws.choice(seen[-5:])
        stage.happen(draws.choice([EventType.CLAIMED, EventType.EXECUTED, EventType.ATTEMPT_FAILED]), about)
    assert stage.dues == [START + number * MINUTE for number in range(1, stage.cursor.number + 1)]
    assert stage.cursor.number > 50


def test_a_dead_target_ends_no_series() -> None:
    stage = Stage()
    stage.happen(EventType.CLAIMED)
    before = stage.cursor
    stage.happen(EventType.FAILED, stage.first)
    assert stage.cursor == before


@pytest.mark.parametrize("kind", [EventType.DROPPED, EventType.DEAD_LETTERED, EventType.CANCELLED, EventType.FAILED])
@pytest.mark.parametrize("overlap", Overlap)
def test_an_end_without_a_claim_is_a_reason_to_step(kind: EventType, overlap: Overlap) -> None:
    stage = Stage(overlap=overlap)
    stage.happen(kind)
    assert stage.cursor.number == 2


@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE_ONE])
def test_without_overlap_the_next_one_waits_for_the_end(overlap: Overlap) -> None:
    stage = Stage(overlap=overlap)
    stage.happen(EventType.CLAIMED)
    assert stage.cursor.number == 1
    stage.world.clock.move(10 * MINUTE)
    stage.happen(EventType.EXECUTED)
    late = overlap is Overlap.QUEUE_ONE
    assert (stage.cursor.number, stage.cursor.at) == (2, START + (10 if late else 11) * MINUTE)


@pytest.mark.parametrize("state", [SeriesState.PAUSED, SeriesState.CANCELLED])
def test_nothing_is_put_after_a_pause_or_a_cancel(state: SeriesState) -> None:
    stage = Stage()
    over = stage.cursor
    stage.series.write(SeriesTransaction(cursor=evolve(over, revision=2, state=state), over=over))
    stage.happen(EventType.CANCELLED)
    assert (stage.cursor.number, stage.cursor.state) == (1, state)
    assert len(all_rows(stage.world.table)) == 1


def test_a_series_ends_waits_or_fails_and_says_so() -> None:
    for rule, state in (
        (Every(until=START + MINUTE), SeriesState.ENDED),
        (Every(length=50 * YEAR, until=START + 100 * YEAR), SeriesState.WAITING),
        (Broken(), SeriesState.FAILED),
    ):
        stage = Stage(rule=rule)
        stage.happen()
        assert (stage.cursor.state, stage.cursor.current) == (state, "")
        assert ("its rule failed: the series stops" in stage.world.observer.warnings) is (state is SeriesState.FAILED)
        if state is SeriesState.FAILED:
            events = [event for event, _, _ in stage.world.observer.lines]
            assert events[-2:] == ["nothing more to put", "its rule failed: the series stops"], "what is, and why"
        stage.happen(EventType.EXECUTED, stage.first)
        assert stage.cursor.state is state


def test_what_is_no_occurrence_is_left_alone() -> None:
    stage = Stage()
    before = stage.cursor
    plain = stage.world.post(START + DAY)
    assert plain
    stage.happen(schedule_id=plain.id)
    assert stage.cursor == before


@pytest.mark.parametrize("state", SeriesState)
def test_a_series_without_its_definition_rings_unless_it_is_over(state: SeriesState) -> None:
    """What comes again and again is a suspect, and an alarm rings. What is over may be half removed by the TTL."""
    stage = Stage()
    put_row(stage.series, evolve(stage.cursor, state=state))
    take_definition(stage.series, (OWNER, ID))
    if state in OVER:
        stage.happen()
    else:
        with pytest.raises(Unavailable, match="without its definition"):
            stage.happen()
    take_row(stage.series, (OWNER, ID))
    stage.happen(schedule_id=stage.first)
    assert stage.world.observer.warnings[-1] == "a current occurrence without its series"


def test_a_step_that_is_overtaken_reads_again() -> None:
    """Its owner changes the series while it works."""
    stage = Stage()
    assert take_out_of_hand(stage, times=1)() is None
    assert stage.cursor.number == 2
    with pytest.raises(Unavailable):
        take_out_of_hand(Stage(), times=ROUNDS)()


def take_out_of_hand(stage: Stage, times: int) -> Callable[[], str | None]:
    """So many writes find that somebody else has written the cursor."""

    def overtakes() -> None:
        over = stage.cursor
        assert stage.series.write(SeriesTransaction(cursor=evolve(over, revision=over.revision + 1), over=over))

    stage.step = evolve(stage.step, series=preceded(stage.series, in_turn(*[overtakes] * times)))

    def happen() -> None:
        stage.happen()

    return happen
