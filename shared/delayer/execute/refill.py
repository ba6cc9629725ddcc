"""Keeps a function at work while a target keeps it waiting (ADR 0113).

Lambda gives a function its next messages when all of a batch are done. One target that does not answer would make
the nine others of its batch wait, and soon every function that there may be. So the function receives by itself what
its free slots can take, until nothing of it is under way any more.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from attrs import frozen

from delayer.engines.ports import Clock, NotBegun, Observer, Queue, ReceivedMessage
from delayer.execute.desk import Apart, Course, Desk, Until
from delayer.execute.execute import Execute
from delayer.flow.rules.gate import SLOTS
from delayer.recovery.guard import Guard
from delayer.schedule.instants import Millis

# Whoever waits longer for a target keeps others waiting. Each receive is paid for, and targets that are well answer
# sooner, mostly. But with a second, as many schedules are late as come while all functions wait.
TAKES_LONG: Final[Millis] = 250
LOOK: Final[Millis] = 50
SHORTEST_PAUSE: Final[Millis] = 100  # between two receives that found less than they might have brought
LONGEST_PAUSE: Final[Millis] = 250
BATCH: Final = 10  # messages at a time, as Lambda gives them


def pause_after(pause: Millis, received: int, asked: int) -> Millis:
    """Before the next receive: the less there is, the longer, as SQS is paid for each."""
    if received == asked:
        return LOOK  # there is more
    return min(max(pause // 2 if received else pause * 2, SHORTEST_PAUSE), LONGEST_PAUSE)


@frozen(kw_only=True)
class Refill:
    """Receives more beside a batch: a course that nobody waits for."""

    clock: Clock
    guard: Guard
    own_queue: Queue
    has_time: Callable[[], bool]  # for what is received now
    observer: Observer

    def __call__(self, desk: Desk, execute: Execute) -> Course:
        """Receives as long as something is under way: Lambda freezes a function that has answered."""
        pause = LOOK
        while True:
            yield Until(self.clock.now() + pause, is_idle=True)
            room = min(SLOTS + 1 - desk.number, BATCH)  # it counts itself, now that it is awake
            pulled: list[ReceivedMessage] = []
            if room > 0 and desk.kept() >= TAKES_LONG and self.has_time():
                pulled = yield Apart(partial(self._pull, room))
                pause = pause_after(pause, len(pulled), room)
            else:
                pause = LOOK
            for one in pulled:
                desk.begin(self._beside(one, execute), lambda _: None)

    def _pull(self, room: int) -> list[ReceivedMessage]:
        try:
            return self.own_queue.pull(room)
        except Exception as error:  # noqa: BLE001 - the batch is handled all the same
            self.observer.warn("nothing received beside the batch", error=repr(error))
            return []

    def _beside(self, received: ReceivedMessage, execute: Execute) -> Course:
        """Each by itself: a target that keeps one waiting does not keep the others."""
        try:
            if (yield Apart(partial(self.guard.admits, received))):
                began = self.clock.now()
                is_done = yield from execute.settle(received)
                yield Apart(partial(self._end, received, began, is_done))
        except Exception as error:  # noqa: BLE001 - the batch is handled all the same
            self.observer.warn("not handled beside the batch: it comes again", error=repr(error))

    def _end(self, received: ReceivedMessage, began: Millis, is_done: bool | None) -> None:
        """As Execute.settle says it: if nothing was begun, it comes at once, for another function."""
        one = NotBegun(received.message_id) if is_done is None else received.message_id
        if self.guard.end([received], [] if is_done else [one], began) == []:
            self.own_queue.delete(received)
