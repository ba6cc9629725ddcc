"""Keeps a function at work while a target keeps it waiting (ADR 0113).

Lambda gives a function its next messages when all of a batch are done. One target that does not answer would make
the nine others of its batch wait, and soon every function that there may be. So the function receives by itself what
its free slots can take, until nothing of it is under way any more.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Final

from attrs import frozen

from delayer.engines.ports import Background, Observer, Queue, ReceivedMessage, Running, Unavailable
from delayer.flow.use_cases.seats import Seats, Slots
from delayer.schedule.instants import Millis

# Whoever waits longer for a target keeps others waiting. Each receive is paid for, and targets that are well answer
# sooner, mostly. But with a second, as many schedules are late as come while all functions wait.
TAKES_LONG: Final[Millis] = 250
LOOK: Final = 0.05  # seconds
SHORTEST_PAUSE: Final = 0.1  # seconds between two receives that found less than they might have brought
LONGEST_PAUSE: Final = 0.25
BATCH: Final = 10  # messages at a time, as Lambda gives them


def pause_after(pause: float, received: int, asked: int) -> float:
    """Seconds before the next receive: the less there is, the longer, as SQS is paid for each."""
    if received == asked:
        return LOOK  # there is more
    return min(max(pause * (0.5 if received else 2), SHORTEST_PAUSE), LONGEST_PAUSE)


@frozen(kw_only=True)
class Refill:
    """One batch, and what follows it."""

    handle: Callable[[Sequence[ReceivedMessage]], list[str]]
    handle_beside: Callable[[ReceivedMessage], list[str]]  # one that was received beside the batch
    own_queue: Queue
    suspects: str  # the name of the other queue: what comes from there is handled alone
    slots: Slots
    seats: Seats
    background: Background
    has_time: Callable[[], bool]  # for what is received now
    observer: Observer

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Handles all; returns the ids of the messages of the batch that SQS must deliver again.

        What it has of seats is given back then: a function that is frozen would keep them from others.
        """
        try:
            return self._handled_all(batch)
        finally:
            self.seats.give_back()

    def _handled_all(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        if any(received.source == self.suspects for received in batch):
            return self.handle(batch)
        first = self.background.start(lambda: self.handle(batch))
        self._until_all_is_done(first)
        return first.result()

    def _until_all_is_done(self, first: Running[object]) -> None:
        """Lambda freezes a function that has answered, whatever it is doing: so it waits for all that it received."""
        under_way = [first]
        pause = LOOK
        while under_way:
            under_way[0].wait(pause)
            under_way = [one for one in under_way if not one.wait(0)]
            room = min(self.slots.free(), BATCH)
            if under_way and room > 0 and self.slots.longest() >= TAKES_LONG and self.has_time():
                pulled = self._pull(room)
                pause = pause_after(pause, len(pulled), room)
                under_way += pulled
            else:
                pause = LOOK

    def _pull(self, room: int) -> list[Running[object]]:
        try:
            pulled = self.own_queue.pull(room)
        except Unavailable as error:
            self.observer.warn("nothing received beside the batch", error=str(error))
            return []
        return [self.background.start(partial(self._handle, one, self.slots.expect())) for one in pulled]

    def _handle(self, one: ReceivedMessage, expected: AbstractContextManager[None]) -> None:
        """Each by itself: a target that keeps one waiting does not keep the others."""
        with expected:
            failed = self._handled(one)
        if not failed:
            self.own_queue.delete(one)
        elif not self.has_time():  # if that is why, another function can begin it; else it comes again in a while
            self.own_queue.give_back([one])

    def _handled(self, received: ReceivedMessage) -> list[str]:
        try:
            return self.handle_beside(received)
        except Exception as error:  # noqa: BLE001 - nobody else would hear of it
            self.observer.warn("not handled beside the batch: it comes again", error=repr(error))
            return [received.message_id]
