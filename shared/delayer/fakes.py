"""Fakes of all ports that keep no rows, in memory, under a clock that is moved by hand. They are held to the same
contract tests as the AWS adapters, so that they cannot drift, and are shipped: use them to test your own action.

Ports that keep rows need no fake: their repositories stand on SQLite in memory (ADR 0170).
"""

from attrs import Factory, define

from delayer.actions.rules.model import Done, Result
from delayer.engines.memory.messaging import MemoryFunction, MemoryQueue, MemoryTopic
from delayer.engines.memory.runtime import (
    AtOnce,
    ManualClock,
    MemoryObjects,
    MemoryObserver,
    MemorySeal,
    MemorySecrets,
    Tokens,
)
from delayer.engines.ports import Clock
from delayer.engines.process import InOrder
from delayer.lambdas.memory_stream import MemoryStream
from delayer.schedule.instants import Millis
from delayer.schedule.messages import ExecutorMessage

__all__ = [
    "AtOnce",
    "InOrder",
    "ManualClock",
    "MemoryFunction",
    "MemoryObjects",
    "MemoryObserver",
    "MemoryQueue",
    "MemorySeal",
    "MemorySecrets",
    "MemoryStream",
    "MemoryTopic",
    "ScriptedTarget",
    "Tokens",
]


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
