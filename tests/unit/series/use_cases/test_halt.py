"""Pause and DELETE of a series tell the truth: what they do not name is not handed over afterwards."""

import random

import pytest
from attrs import evolve

from delayer.accept.use_cases.cancel import CancelAnswer, Cancelled
from delayer.engines.ports import Unavailable
from delayer.history.model import SeriesRefuses
from delayer.ledger.model import EventType, State
from delayer.schedule.instants import MINUTE, STALE_AFTER
from delayer.series.rules.command import AlreadyClosed
from delayer.series.rules.series import NoSeries, SeriesState
from delayer.series.rules.stepping import Happened
from delayer.series.use_cases.halt import Halt, Halted
from delayer.series.use_cases.stored import Retention
from tests.looking import put_row
from tests.samples import OWNER, an_id
from tests.unit.series.use_cases.test_step import ID, Stage
from tests.world import START


def a_halt(stage: Stage) -> Halt:
    return Halt(
        series=stage.series,
        cancel_of_series=stage.world.ports("cancel").cancel_of_series,
        retention=Retention(clock=stage.world.clock),
        observer=stage.world.observer,
    )


@pytest.mark.parametrize("command", ["pause", "delete"])
def test_the_current_occurrence_is_cancelled_and_none_is_put_any_more(command: str) -> None:
    stage = Stage()
    halt = getattr(a_halt(stage), command)
    answer = halt(OWNER, ID)
    assert isinstance(answer, Halted)
    assert (answer.cancelled, answer.claimed, answer.claimed_up_to) == ((stage.first,), (), 0)
    assert answer.cursor.state is (SeriesState.PAUSED if command == "pause" else SeriesState.CANCELLED)
    stage.happen(EventType.CANCELLED, stage.first)
    stage.world.run_until(START + 10 * MINUTE)
    assert stage.world.target.reached == []
    assert halt(OWNER, ID) == answer, "again, it is the same answer"


@pytest.mark.parametrize("command", ["pause", "delete"])
def test_what_was_claimed_before_is_named_and_may_still_be_handed_over(command: str) -> None:
    stage = Stage()
    stage.world.run_until(START + MINUTE)
    row = stage.world.ledger.read(stage.first)
    assert row
    answer = getattr(a_halt(stage), command)(OWNER, ID)
    assert isinstance(answer, Halted)
    assert (answer.cancelled, answer.claimed, answer.claimed_up_to) == ((), (row,), 1)


def test_whenever_it_comes_nothing_fires_that_it_did_not_name() -> None:
    """A minute's series is deleted at 200 moments about a claim, which takes some seconds."""
    draws = random.Random("delete")
    for _ in range(200):
        stage = Stage()
        moment = START + MINUTE + draws.randint(-3_000, 500)
        stage.world.run_until(moment)
        if (row := stage.world.ledger.read(stage.first)) and row.claimed_at:
            stage.happen(EventType.CLAIMED, stage.first)
        answer = a_halt(stage).delete(OWNER, ID)
        assert isinstance(answer, Halted)
        before = {message.schedule.id for _, message in stage.world.target.reached}
        stage.step(Happened(schedule_id=stage.first, kind=EventType.CLAIMED))
        stage.world.run_out(START + 10 * MINUTE)
        fired = {message.schedule.id for _, message in stage.world.target.reached}
        assert fired <= before | {row.schedule_id for row in answer.claimed} | (
            {stage.first} if answer.claimed_up_to else set()
        )
        assert not fired & set(answer.cancelled)


def test_a_call_that_died_in_between_is_finished_by_the_next_one() -> None:
    stage = Stage()

    def dies(schedule_id: str, owner: str, detail: str = "", by: str = "") -> CancelAnswer:
        raise Unavailable("the function is gone")

    with pytest.raises(Unavailable):
        evolve(a_halt(stage), cancel_of_series=dies).delete(OWNER, ID)
    assert stage.cursor.state is SeriesState.CANCELLED
    answer = a_halt(stage).delete(OWNER, ID)
    assert isinstance(answer, Halted)
    assert answer.cancelled == (stage.first,)
    row = stage.world.ledger.read(stage.first)
    assert row
    assert row.state is State.CANCELLED


def with_beside(stage: Stage, *ids: str) -> None:
    put_row(stage.series, evolve(stage.cursor, beside=ids))


@pytest.mark.parametrize("command", ["pause", "delete"])
def test_what_is_too_old_to_be_fired_is_in_neither_list(command: str) -> None:
    stage = Stage()
    stage.world.clock.move(STALE_AFTER + 2 * MINUTE)
    answer = getattr(a_halt(stage), command)(OWNER, ID)
    assert isinstance(answer, Halted)
    assert (answer.cancelled, answer.claimed, answer.claimed_up_to) == ((), (), 1)


@pytest.mark.parametrize("command", ["pause", "delete"])
def test_nothing_is_promised_of_what_cannot_be_cancelled(command: str) -> None:
    """An id of another stack, by a row that was brought here: the others are cancelled, but it may be handed over."""
    stage = Stage()
    with_beside(stage, an_id())
    with pytest.raises(Unavailable, match="of another stack"):
        getattr(a_halt(stage), command)(OWNER, ID)
    assert stage.cursor.state is (SeriesState.PAUSED if command == "pause" else SeriesState.CANCELLED)
    row = stage.world.ledger.read(stage.first)
    assert row
    assert row.state is State.CANCELLED


def test_what_is_not_there_or_is_over() -> None:
    stage = Stage()
    halt = a_halt(stage)
    assert halt.delete("somebody", ID) == NoSeries()
    assert isinstance(halt.delete(OWNER, ID), Halted)
    assert halt.pause(OWNER, ID) == SeriesRefuses("the series is cancelled")
    assert isinstance(stage.world.cancel(stage.first, OWNER), Cancelled)
    assert not isinstance(halt.delete(OWNER, ID), AlreadyClosed)
