"""Finds a seat for each attempt whose number at a time is limited (ADR 0115)."""

from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager

from attrs import frozen

from delayer.core.flow.block import Block
from delayer.core.schedule.messages import ExecutorMessage
from delayer.use_cases.limits.limits import Limits, Missed
from delayer.use_cases.limits.seats import Seats


@frozen(kw_only=True)
class Seating:
    """What an executor asks: for its batch, before an attempt, and at the last moment."""

    limits: Limits
    seats: Seats

    def any(self) -> bool:
        """Whether there are limits of the number at a time at all. Raises Unavailable."""
        return self.limits.any(at_a_time)

    def expect(self, messages: Iterable[ExecutorMessage]) -> None:
        """One write for each limit of a batch. Raises Unavailable, if it is not known what is limited."""
        wanted: Counter[Block] = Counter()
        for message in messages:
            wanted.update(self.limits.open(message, at_a_time))
        self.seats.expect(wanted)

    def one(self, message: ExecutorMessage) -> AbstractContextManager[None]:
        """A seat for its attempt. What is kept back by something else needs none. Raises NoSeat, Unavailable."""
        return self.seats.one(self.limits.open(message, at_a_time))

    def begin(self, message: ExecutorMessage) -> None:
        """The last look before an attempt. Raises Missed: another limit counts now, or too little time is left."""
        if not self.seats.has(self.limits.about(message.schedule, at_a_time)):
            raise Missed


def at_a_time(block: Block) -> bool:
    """Whether it is such a limit."""
    return block.concurrency > 0
