"""A target that answers by a script."""

from attrs import Factory, define

from delayer.core.actions.results import Done, Result
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.messages import ExecutorMessage
from delayer.ports.clock import Clock


@define
class ScriptedTarget:
    """Port Target. Gives the answers in turn, then Done for ever; remembers what reached it and when."""

    clock: Clock
    answers: list[Result] = Factory(list)
    reached: list[tuple[Millis, ExecutorMessage]] = Factory(list)

    def __call__(self, message: ExecutorMessage) -> Result:
        self.reached.append((self.clock.now(), message))
        return self.answers.pop(0) if self.answers else Done("ok")
