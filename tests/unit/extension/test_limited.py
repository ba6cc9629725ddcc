"""An attempt has a time limit."""

from threading import Event

import pytest

from delayer.actions.rules.model import Done, Result, Retry
from delayer.engines.aws.time_limit import TimeLimit
from delayer.extension.executor import Action, Message, executor
from delayer.schedule.messages import ExecutorMessage
from delayer.wiring.executor import GRACE, Limited
from tests.samples import an_executor_message


class Nothing(Action):
    """An action without fields."""


def test_a_function_that_takes_too_long_is_a_failed_attempt() -> None:
    never = Event()

    def target(message: ExecutorMessage) -> Result:
        never.wait()
        return Done("too late")

    limited = Limited(target=target, seconds=0.01 - GRACE, limit=TimeLimit())
    result = limited(an_executor_message())
    never.set()
    assert isinstance(result, Retry)
    assert result.detail.startswith("it took longer than")


def test_the_time_of_a_function_is_its_own_to_choose_and_limited() -> None:
    @executor("quick-one", seconds=5)
    def quick(message: Message[Nothing]) -> Result:
        return Done(f"{message.seconds_left}")

    assert quick.target(an_executor_message(action='{"type":"quick-one"}')) == Done("5")
    for seconds in (0, 31):
        with pytest.raises(ValueError, match="up to 30 seconds"):
            executor("slow-one", seconds=seconds)
