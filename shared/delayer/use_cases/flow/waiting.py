"""What an execution environment has sent back into the delayer queue: there need not be two of one kind."""

from typing import Final

from attrs import define, field

from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.messages import DelayerMessage

MARGIN: Final[Millis] = 2 * SECOND  # by which a clock may have been put back in between


@define(kw_only=True)
class Waiting:
    """The messages that SQS is known to delay, and until when.

    Each time that a message is sent again it may become two: SQS repeats a delivery, or does not answer a send. None of
    them is claimed, so all would go on, and become more and more as long as their target is suspended. But while one is
    known to be delayed, another one that comes is not needed (ADR 0112).
    """

    at_most: int = 10_000
    _until: dict[tuple[str, str], Millis] = field(factory=dict, init=False)

    def knows(self, message: DelayerMessage, now: Millis) -> bool:
        """Whether there is another one, which cannot be this one: it has not come out of its delay yet."""
        return now < self._until.get(_name(message), 0) - MARGIN

    def sent(self, message: DelayerMessage, until: Millis) -> None:
        """Remembers it, and forgets the oldest if there are too many."""
        self._until.pop(_name(message), None)
        self._until[_name(message)] = until
        if len(self._until) > self.at_most:
            del self._until[next(iter(self._until))]


def _name(message: DelayerMessage) -> tuple[str, str]:
    return message.schedule.id, message.nonce
