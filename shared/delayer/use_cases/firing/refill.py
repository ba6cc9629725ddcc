"""Keeps a function at work while a target keeps it waiting (ADR 0113).

Lambda gives a function its next messages when all of a batch are done. One target that does not answer would hold up
the nine others of its batch, and soon every function that there may be. So the function receives by itself what its
free slots can take, until its batch is done.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from attrs import frozen

from delayer.core.schedule.instants import Millis
from delayer.ports.clock import Background, Running
from delayer.ports.observer import Observer
from delayer.ports.queue import Pulled, PullsMessages, ReceivedMessage
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.flow.slots import Slots

TAKES_LONG: Final[Millis] = 200  # an attempt that is under way for longer keeps others waiting
LOOK: Final = 0.05  # seconds
BATCH: Final = 10  # messages at a time, as Lambda gives them


@frozen(kw_only=True)
class Refill:
    """One batch, and what follows it."""

    handle: Callable[[Sequence[ReceivedMessage]], list[str]]
    queue: PullsMessages
    suspects: str  # the name of the other queue: what comes from there is handled alone
    slots: Slots
    background: Background
    has_time: Callable[[], bool]  # for what is received now
    observer: Observer

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Handles all; returns the ids of the messages of the batch that SQS must deliver again."""
        if any(received.source == self.suspects for received in batch):
            return self.handle(batch)
        first = self.background.start(lambda: self.handle(batch))
        more: list[Running[list[str]]] = []
        while not first.wait(LOOK):
            if self.slots.longest() >= TAKES_LONG:
                more += self._receive(self.slots.free() - sum(not one.wait(0) for one in more))
        for one in more:
            while not one.wait(LOOK * 20):
                pass
        return first.result()

    def _receive(self, room: int) -> list[Running[list[str]]]:
        if room < 1 or not self.has_time():
            return []
        try:
            pulled = self.queue.pull(min(room, BATCH))
        except Unavailable as error:
            self.observer.warn("nothing received beside the batch", error=str(error))
            return []
        return [self.background.start(partial(self._handle, one)) for one in pulled]

    def _handle(self, one: Pulled) -> list[str]:
        """Each by itself: a target that keeps one waiting does not keep the others."""
        failed = self.handle([one.received])
        if not failed:
            self.queue.delete(one)
        return failed
