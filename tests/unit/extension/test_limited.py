"""An attempt has a time limit."""

from threading import Event

import pytest
from attrs import evolve

from delayer.actions.rules.model import Done, Result
from delayer.engines.process import SystemClock
from delayer.execute.execute import GRACE
from delayer.extension.executor import Action, Message, executor
from delayer.ledger.model import State
from delayer.schedule.messages import ExecutorMessage
from delayer.wiring import use_cases
from tests.looking import put_row
from tests.samples import a_claim, an_executor_message
from tests.unit.execute.test_execute import delivered
from tests.unit.execute.test_side_by_side import Threaded


class Nothing(Action):
    """An action without fields."""


def test_a_function_that_takes_too_long_is_a_failed_attempt() -> None:
    """It takes a second: so often the leader looks whether something takes too long."""
    never, world = Event(), Threaded()
    due = SystemClock().now()
    message = an_executor_message(due)
    put_row(world.ledger, evolve(a_claim(due), schedule_id=message.schedule.id))

    def target(_: ExecutorMessage) -> Result:
        assert never.wait(60)
        return Done("too late")

    execute = use_cases.execute(world.ports("execute"), target, seconds=0.01 - GRACE)  # type: ignore[arg-type] # on fakes
    assert execute(delivered(message)) == []
    never.set()
    row = world.ledger.read(message.schedule.id)
    assert row
    assert (row.state, row.attempt) == (State.CLAIMED, 2)
    assert row.detail.startswith("it took longer than")


def test_the_time_of_a_function_is_its_own_to_choose_and_limited() -> None:
    @executor("quick-one", seconds=5)
    def quick(message: Message[Nothing]) -> Result:
        return Done(f"{message.seconds_left}")

    assert quick.target(an_executor_message(action='{"type":"quick-one"}')) == Done("5")
    for seconds in (0, 31):
        with pytest.raises(ValueError, match="up to 30 seconds"):
            executor("slow-one", seconds=seconds)
