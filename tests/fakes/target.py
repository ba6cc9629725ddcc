"""Stands in for what an executor reaches."""

from attrs import Factory, define

from delayer.actions.rules.model import Done, Result
from delayer.engines.ports import Clock
from delayer.schedule.instants import Millis
from delayer.schedule.messages import ExecutorMessage


@define
class ScriptedTarget:
    """Port Target. Gives the answers in turn, then Done for ever; remembers what reached it and when."""

    clock: Clock
    answers: list[Result] = Factory(list)
    reached: list[tuple[Millis, ExecutorMessage]] = Factory(list)

    def __call__(self, message: ExecutorMessage) -> Result:
        """The next answer."""
        self.reached.append((self.clock.now(), message))
        return self.answers.pop(0) if self.answers else Done("ok")
