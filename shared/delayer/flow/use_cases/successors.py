"""Which messages a relay has sent again already: so copies do not become more and more (ADR 0112)."""

from typing import Final

from attrs import define, field

from delayer.schedule.messages import DelayerMessage

AT_MOST: Final = 10_000  # messages that are remembered


@define(kw_only=True)
class Successors:
    """How often the messages were sent again whose successors SQS has taken.

    Each time that a message is sent again it may become two: SQS repeats a delivery, or does not answer a send. None of
    them is claimed, so all would go on, and become more and more as long as their target is suspended. But a message
    counts how often it was sent again, and one that counts more than another makes it needless. So the one that counts
    most is never left out, whatever any clock says.
    """

    at_most: int = AT_MOST
    _hops: dict[tuple[str, str], int] = field(factory=dict, init=False)

    def has_successor(self, message: DelayerMessage) -> bool:
        """Whether SQS has taken one that was sent again more often."""
        return message.hops <= self._hops.get(_name(message), -1)

    def sent(self, message: DelayerMessage) -> None:
        """A successor of this message is in the queue. The oldest is forgotten if there are too many."""
        before = self._hops.pop(_name(message), -1)
        self._hops[_name(message)] = max(before, message.hops)
        if len(self._hops) > self.at_most:
            del self._hops[next(iter(self._hops))]


def _name(message: DelayerMessage) -> tuple[str, str]:
    return message.schedule.id, message.nonce
