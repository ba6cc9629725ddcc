"""Stopping: no further attempt starts, and nothing is said that is not true."""

import pytest
from attrs import evolve

from delayer.accept.rules.status import Expired, NotFound, TooEarly, TooLate
from delayer.accept.use_cases.cancel import Stop, Stopped
from delayer.actions.ports import Target
from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.dead_letters.dead_letter import DeadLetters, undeliverable
from delayer.engines.ports import Unavailable
from delayer.ledger.model import State
from delayer.schedule.instants import DAY, HOUR, SECOND, STALE_AFTER
from delayer.schedule.messages import ExecutorMessage, decode
from delayer.schedule.schedule import Schedule
from delayer.wiring.build import build
from tests.fakes.faults import Crash, Fault, FaultPlan, faulty
from tests.looking import all_rows
from tests.world import START, World

OWNER = "owner"


def a_stop(world: World, plan: FaultPlan | None = None) -> Stop:
    stop = build(Stop, world.ports("stop"))
    return evolve(stop, ledger=faulty(world.ledger, plan)) if plan else stop


def failing(*answers: Result) -> tuple[World, Schedule]:
    """A schedule whose first attempt has failed, and whose second waits."""
    world = World()
    world.target.answers = [Retry(detail="HTTP 500"), *answers]
    schedule = world.post(START + SECOND)
    assert schedule
    world.run_until(START + SECOND + 500)
    assert len(world.reached(schedule)) == 1
    return world, schedule


def test_no_further_attempt_starts() -> None:
    world, schedule = failing(Done("HTTP 200"))
    answer = a_stop(world)(schedule.id, OWNER)
    assert isinstance(answer, Stopped)
    assert (answer.row.state, answer.row.stopped_at) == (State.CLAIMED, world.clock.now())
    world.run_until(START + HOUR)
    assert len(world.reached(schedule)) == 1
    row = world.row(schedule)
    assert row
    assert (row.state, row.detail) == (State.DROPPED, "stopped by its owner; before that: HTTP 500")
    assert world.store.objects == {}, "nobody has to look at it"
    world.check_nothing_left()


def during(world: World, schedule: Schedule, then: Result) -> Target:
    """A target that answers after its schedule was stopped."""

    def reach(message: ExecutorMessage) -> Result:
        assert isinstance(a_stop(world)(schedule.id, OWNER), Stopped)
        return then

    return reach


@pytest.mark.parametrize(
    ("then", "state"), [(Done("HTTP 200"), State.EXECUTED), (Refused("HTTP 400"), State.FAILED)], ids=str
)
def test_an_attempt_that_runs_may_still_succeed(then: Result, state: State) -> None:
    world = World()
    schedule = world.post(START + SECOND)
    assert schedule
    world.execute = evolve(world.execute, target=during(world, schedule, then))
    world.run_until(START + HOUR)
    row = world.row(schedule)
    assert row
    assert (row.state, row.detail) == (state, then.detail)
    world.check_nothing_left()


def test_a_stop_while_an_attempt_fails_takes_the_place_of_the_retry() -> None:
    world = World()
    schedule = world.post(START + SECOND)
    assert schedule
    world.execute = evolve(world.execute, target=during(world, schedule, Retry(detail="HTTP 500")))
    world.run_until(START + HOUR)
    row = world.row(schedule)
    assert row
    assert row.state is State.DROPPED
    world.check_nothing_left()


def test_before_the_claim_there_is_nothing_to_stop() -> None:
    world = World()
    schedule = world.post(START + DAY)
    assert schedule
    assert a_stop(world)(schedule.id, OWNER) == TooEarly()
    assert all_rows(world.ledger) == {}


def test_after_an_end_it_is_too_late() -> None:
    world, schedule = failing(Done("HTTP 200"))
    world.run_until(START + HOUR)
    row = world.row(schedule)
    assert row
    assert a_stop(world)(schedule.id, OWNER) == TooLate(row)


def test_a_dead_letter_that_was_claimed_is_stopped_for_good() -> None:
    """Its target must not be reached any more: nobody redrives it, and an operator may discard it."""
    world, schedule = failing(Done("HTTP 200"))
    [message] = [one.body for one in world.http_queue.messages]
    take = build(DeadLetters, world.ports("relay")).take
    take(undeliverable(message, "it came back too often", decode(message, ExecutorMessage)))
    answer = a_stop(world)(schedule.id, OWNER)
    assert isinstance(answer, Stopped)
    assert (answer.row.state, answer.row.stopped_at) == (State.DROPPED, world.clock.now())
    assert answer.row.detail == "stopped by its owner; before that: it came back too often"
    [key] = world.store.objects
    assert world.redrive.redrive(key)["schedules"][0]["outcome"] == "not redriven: it is dropped"
    world.run_until(START + HOUR)
    assert len(world.reached(schedule)) == 1


def test_a_stop_repeated_is_answered_the_same() -> None:
    """Also when it has come to its end by it."""
    world, schedule = failing()
    first = a_stop(world)(schedule.id, OWNER)
    world.clock.move(100)
    assert a_stop(world)(schedule.id, OWNER) == first
    world.run_until(START + HOUR)
    row = world.row(schedule)
    assert row
    assert a_stop(world)(schedule.id, OWNER) == Stopped(row)


def test_another_owner_stops_nothing() -> None:
    world, schedule = failing(Done("HTTP 200"))
    assert a_stop(world)(schedule.id, "another") == NotFound()
    assert a_stop(world)("no id", OWNER) == NotFound()
    world.run_until(START + HOUR)
    assert len(world.reached(schedule)) == 2


def test_what_is_too_old_is_answered_so() -> None:
    world = World()
    schedule = world.post(START + DAY)
    assert schedule
    world.clock.move(DAY + STALE_AFTER + 1)
    assert a_stop(world)(schedule.id, OWNER) == Expired()


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("at", range(3))
def test_every_fault_then_again(fault: Fault, at: int) -> None:
    world, schedule = failing(Done("HTTP 200"))
    try:
        a_stop(world, FaultPlan(fault, at))(schedule.id, OWNER)
    except (Unavailable, Crash):
        assert isinstance(a_stop(world)(schedule.id, OWNER), Stopped)
    world.run_until(START + HOUR)
    assert len(world.reached(schedule)) == 1
