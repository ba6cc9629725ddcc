"""A resume puts what is still to come under a new id; what passed during the pause is stated, and never made up."""

import pytest
from attrs import evolve

from delayer.accept.rules.status import MayBeRunning
from delayer.accept.use_cases.cancel import CancelAnswer
from delayer.engines.ports import Unavailable
from delayer.history.model import SeriesRefuses
from delayer.ledger.model import EventType, State
from delayer.schedule.instants import MINUTE, SECOND
from delayer.series.rules.backfill import Range
from delayer.series.rules.series import MayStillRun, NoSeries, Overlap, SeriesState
from delayer.series.rules.stepping import Happened
from delayer.series.use_cases.halt import Halted
from delayer.series.use_cases.resume import Resumed
from tests.looking import empty, put_definition, put_row
from tests.samples import OWNER, a_claim
from tests.unit.series.steering.stage import ID, Stage
from tests.world import START


def test_it_goes_on_with_the_next_time_and_states_those_that_it_missed() -> None:
    stage = Stage()
    stage.run_until(START + 2 * MINUTE + 30 * SECOND)
    assert isinstance(stage.halt.pause(OWNER, ID), Halted)
    stage.run_until(START + 7 * MINUTE + 30 * SECOND)
    answer = stage.resume(OWNER, ID)
    assert isinstance(answer, Resumed)
    assert (answer.missed, answer.cursor.number, answer.cursor.at) == (5, 4, START + 8 * MINUTE)
    stage.run_until(START + 9 * MINUTE + 30 * SECOND)
    assert [(number, (time - START) // MINUTE) for number, time, _ in stage.fired] == [(1, 1), (2, 2), (4, 8), (5, 9)]


def test_a_pause_and_a_resume_before_its_time_lose_nothing() -> None:
    stage = Stage()
    stage.halt.pause(OWNER, ID)
    answer = stage.resume(OWNER, ID)
    assert isinstance(answer, Resumed)
    assert (answer.missed, answer.cursor.at, answer.cursor.number) == (0, START + MINUTE, 2)
    assert answer.cursor.current != stage.first
    stage.run_until(START + 90 * SECOND)
    assert stage.fired == [(2, START + MINUTE, "old")]


def test_what_the_pause_did_not_come_to_cancel_is_cancelled_first() -> None:
    stage = Stage()

    def dies(schedule_id: str, owner: str, detail: str = "", by: str = "") -> CancelAnswer:
        raise Unavailable("the function is gone")

    with pytest.raises(Unavailable):
        evolve(stage.halt, cancel_of_series=dies).pause(OWNER, ID)
    answer = stage.resume(OWNER, ID)
    assert isinstance(answer, Resumed)
    row = stage.world.ledger.read(stage.first)
    assert row
    assert row.state is State.CANCELLED
    stage.run_until(START + 90 * SECOND)
    assert len(stage.fired) == 1


@pytest.mark.parametrize("overlap", [Overlap.SKIP, Overlap.QUEUE_ONE])
def test_it_waits_for_what_still_runs_and_makes_nothing_up(overlap: Overlap) -> None:
    """The claim is known, and not the end: only its event says when the series goes on."""
    stage = Stage(overlap=overlap)
    stage.world.run_until(START + MINUTE + SECOND)
    claimed = a_claim(schedule_id=stage.first)
    put_row(stage.world.ledger, claimed)
    answer = stage.halt.pause(OWNER, ID)
    assert isinstance(answer, Halted)
    assert answer.claimed == (claimed,)
    stage.world.clock.sleep_until(START + 5 * MINUTE + SECOND)
    answered = stage.resume(OWNER, ID)
    assert isinstance(answered, Resumed)
    assert (answered.cursor.state, answered.cursor.current, answered.missed) == (SeriesState.ACTIVE, stage.first, 4)
    stage.world.clock.sleep_until(START + 5 * MINUTE + 30 * SECOND)
    stage.step(Happened(schedule_id=stage.first, kind=EventType.EXECUTED))
    assert (stage.cursor.number, stage.cursor.at) == (2, START + 6 * MINUTE)


def test_it_may_be_repeated() -> None:
    stage = Stage()
    stage.halt.pause(OWNER, ID)
    first, again = stage.resume(OWNER, ID), stage.resume(OWNER, ID)
    assert isinstance(first, Resumed)
    assert again == first


def test_what_is_cancelled_or_not_there_is_not_resumed() -> None:
    stage = Stage()
    assert stage.resume("somebody", ID) == NoSeries()
    stage.halt.delete(OWNER, ID)
    assert stage.resume(OWNER, ID) == SeriesRefuses("the series is cancelled")


def test_an_attempt_that_may_still_run_is_waited_for() -> None:
    stage = Stage()
    stage.halt.pause(OWNER, ID)
    empty(stage.world.ledger)

    def runs(schedule_id: str, owner: str, detail: str = "", by: str = "") -> CancelAnswer:
        return MayBeRunning(row=a_claim(schedule_id=schedule_id), wait=40 * SECOND)

    answer = evolve(stage.resume, cancel_of_series=runs)(OWNER, ID)
    assert isinstance(answer, MayStillRun)
    assert (answer.schedules, answer.wait) == ((stage.first,), 40 * SECOND)
    assert stage.cursor.state is SeriesState.PAUSED


@pytest.mark.parametrize("died", [False, True])
def test_a_backfill_goes_on_where_the_pause_cancelled_it(died: bool) -> None:
    stage = Stage()
    stage.run.backfill(OWNER, ID, Range(since=START - 4 * MINUTE, until=START))
    stage.run_until(START + 2 * SECOND)
    assert len(stage.fired) < 4
    if died:
        cursor = stage.cursor
        put_row(stage.world.series, evolve(cursor, state=SeriesState.PAUSED, revision=cursor.revision + 1))
    else:
        stage.halt.pause(OWNER, ID)
    stage.run_until(START + 30 * SECOND)
    stage.resume(OWNER, ID)
    stage.run_until(START + 59 * SECOND)
    assert sorted(time for number, time, _ in stage.fired) == [START - at * MINUTE for at in (4, 3, 2, 1)]
    assert stage.cursor.backfill is None


def test_if_its_rule_fails_an_alarm_rings() -> None:
    stage = Stage()
    stage.halt.pause(OWNER, ID)
    broken = evolve(stage.definition, repeat='{"cron": "0 9 * * *", "timeZone": "Europe/Atlantis"}')
    put_definition(stage.world.series, ID, broken)
    answer = stage.resume(OWNER, ID)
    assert isinstance(answer, Resumed)
    assert answer.cursor.state is SeriesState.FAILED
    assert stage.world.observer.counts["SeriesFailed"] == 1
