"""Execution environments of one function: each remembers what it has seen, and runs one batch at a time."""

from collections.abc import Callable, Sequence

from attrs import define, field

from delayer.engines.ports import ReceivedMessage
from delayer.schedule.instants import Millis
from tests.simulation.engine.chance import Chance
from tests.simulation.engine.kernel import current

Use = Callable[[Sequence[ReceivedMessage]], list[str]]
RECYCLED = 0.1  # of the batches come to a new one, which takes the place of the one that has been idle for longest


@define(eq=False)
class Environments:
    """What Lambda keeps between two batches. One that dies is not used again.

    There are never more than have run side by side: each knows its own successors of a message, and would tell them.
    """

    function: str
    make: Callable[[], Use]
    chance: Chance
    _idle: list[tuple[Use, Millis, bool]] = field(factory=list, init=False)  # with the error of its clock, and if blind

    def run(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """In one of those that are idle, or in a new one."""
        invocation = current().invocation
        if self._idle and self.chance.part(f"{self.function} environment") >= RECYCLED:
            position = self.chance.whole(f"{self.function} environment, which", 0, len(self._idle) - 1)
            use, invocation.skew, invocation.is_blind = self._idle.pop(position)
            invocation.ends_blind = invocation.is_blind
        else:
            del self._idle[:1]
            use = self.make()
        invocation.environment = use
        answer = use(batch)
        self._idle.append((use, invocation.skew, invocation.ends_blind))
        return answer
