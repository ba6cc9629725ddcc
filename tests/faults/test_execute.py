"""executor-…: killed between any two steps, every batch twice; the target is reached again only where it must be."""

from attrs import evolve

from delayer.actions.ports import Target
from delayer.actions.rules.model import Result
from delayer.engines.ports import Outgoing
from delayer.ledger.model import State
from delayer.schedule.instants import HOUR, MINUTE, SECOND
from delayer.schedule.messages import ExecutorMessage
from tests.fakes.faults import FaultPlan
from tests.faults.cases import every_fault, spoiled
from tests.faults.scenarios import (
    check_fired_once,
    check_sound,
    soon_and_later,
    target_busy_for_long,
    target_down_at_first,
    target_refuses,
)
from tests.world import START, World


def test_every_fault() -> None:
    """A death between the target's answer and the outcome repeats the attempt, with the same idempotency key.

    It takes three seconds, for 80 faults.
    """
    for case, world in every_fault("execute", soon_and_later):
        check_fired_once(case, world, reached_at_most=2)
        repeated = len(world.target.reached) - len(world.accepted)
        assert repeated <= 2, f"{case}: those of a batch are made side by side"
        if "read" in case:
            assert repeated == 0, case


def test_every_batch_twice() -> None:
    world = spoiled("execute", soon_and_later, FaultPlan(), duplicated=True)
    check_fired_once("duplicated", world)


def test_a_target_that_is_down_at_first() -> None:
    """However the executor dies between failed attempt and retry, one chain of attempts goes on."""
    for case, world in every_fault("execute", target_down_at_first):
        check_fired_once(case, world, reached_at_most=4)
        raised = "ScriptedTarget" in case and "error" in case  # then it is one more failed attempt
        assert max(message.attempt for _, message in world.target.reached) <= 3 + raised, case


def test_a_target_that_is_down_at_first_every_batch_twice() -> None:
    world = spoiled("execute", target_down_at_first, FaultPlan(), duplicated=True)
    check_fired_once("duplicated", world, reached_at_most=3)


def test_a_delay_that_takes_several_messages() -> None:
    """However the executor dies between them, one goes on to the attempt, at its time, and it is the second.

    It takes three seconds, for 84 faults.
    """
    for case, world in every_fault("execute", target_busy_for_long):
        raised = "ScriptedTarget" in case and "error" in case  # that answer has asked for no delay
        check_fired_once(case, world, reached_at_most=3 + raised)
        assert max(message.attempt for _, message in world.target.reached) <= 2 + raised, case
        first = max((at for at, message in world.target.reached if message.attempt == 1), default=0)
        later = [at for at, message in world.target.reached if message.attempt == 2]
        assert raised or all(at - first >= 2000 * SECOND for at in later), case


def test_a_delay_that_takes_several_messages_every_batch_twice() -> None:
    """Of two that go on, the first ends the other: they do not become more and more."""
    world = spoiled("execute", target_busy_for_long, FaultPlan(), duplicated=True)
    check_fired_once("duplicated", world, reached_at_most=2)
    assert world.http_queue.sent <= 12


def test_retries_back_off() -> None:
    world = spoiled("execute", target_down_at_first, FaultPlan())
    first, second, third = world.reached(world.accepted[0])
    assert first == START + 2 * SECOND
    assert SECOND <= second - first <= 2 * SECOND
    assert 3 * SECOND <= third - second <= 4 * SECOND


def test_a_target_that_refuses_fails_with_its_body_stored() -> None:
    for case, world in every_fault("execute", target_refuses):
        check_sound(case, world)
        row = world.row(world.accepted[0])
        assert row is not None
        assert row.state is State.FAILED, case
        assert row.detail == "HTTP 404"
        assert len(world.store.list("failed/", "", 10)) == 1, case


def test_a_message_that_cannot_be_read_is_dead_lettered_and_its_neighbours_run() -> None:
    def scenario(world: World) -> None:
        world.post(START + MINUTE)
        world.http_queue.send([Outgoing(body="[]", delay_seconds=60)])
        world.run_out(START + 10 * MINUTE)

    for case, world in every_fault("execute", scenario):
        check_fired_once(case, world, reached_at_most=2)
        assert len(world.store.list("dead-lettered/malformed/", "", 10)) == 1, case


def test_a_target_that_raises_takes_no_neighbour_along() -> None:
    """A defect of an executor, or whatever a target makes it raise, counts as a failed attempt of that schedule.

    It takes about a second, for all faults beside it.
    """

    def scenario(world: World) -> None:
        world.execute = evolve(world.execute, target=_raising_for(world))
        world.post(START + MINUTE)
        world.post(START + MINUTE, retry={"maxAttempts": 3})
        world.post(START + MINUTE)
        world.run_out(START + HOUR)

    for case, world in every_fault("execute", scenario):
        first, raising, last = world.accepted
        states = [row.state for row in map(world.row, (first, raising, last)) if row]
        assert states == [State.EXECUTED, State.FAILED, State.EXECUTED], case
        check_sound(case, world)


def _raising_for(world: World) -> Target:
    def reach(message: ExecutorMessage) -> Result:
        if message.schedule.definition.retry:
            raise OverflowError("a date in the year 99999")
        return world.target(message)

    return reach
