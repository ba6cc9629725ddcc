"""Work beside the turns, in threads: it may take its time, or hang, and only what became of it is written."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, Final

import msgspec
from attrs import define, field

from delayer.engines.ports import Clock, Objects, Observer, ReceivedMessage, Workers
from delayer.engines.sqlite.database import Unwritten
from delayer.engines.sqlite.queue import SqliteQueue, pause_after
from delayer.schedule.instants import Millis, format_instant
from delayer.serve.turns.following import DEAD, GIVEN_UP_AFTER
from delayer.serve.turns.turn import Turn

AT_A_TIME: Final = 4  # events that one subscriber reads; so many threads it may keep busy


@define(kw_only=True, eq=False)
class Beside:
    """Something that a turn begins, and hears of in a later one."""

    turn: Turn
    workers: Workers
    clock: Clock
    _started: Callable[[], int] = field(factory=lambda: count(1).__next__, init=False)
    _not_started: list[tuple[int, object]] = field(factory=list, init=False)
    _settling: list[tuple[Millis, Callable[[], None]]] = field(factory=list, init=False)  # what could not be written

    def lead(self) -> bool:
        """Settles what has ended. Whether there was anything."""
        now, settling = self.clock.now(), self._settling
        again = [do for at, do in settling if at <= now]
        self._settling = [(at, do) for at, do in settling if at > now]
        for do in again:
            do()
        ended = [*self._not_started, *self.workers.ended(None)]
        self._not_started.clear()
        for number, outcome in ended:
            self.settle(number, outcome)
        return bool(again or ended)

    def start(self, do: Callable[[], object]) -> int:
        """In a thread. Returns its number."""
        number = self._started()
        try:
            self.workers.start(number, do)
        except RuntimeError as error:  # there can be no further thread now
            self._not_started.append((number, error))
        return number

    def write(self, do: Callable[[], object], written: Callable[[], None] = lambda: None) -> None:
        """Within the turn; again in a later one, until it is on the disk."""
        self._write(do, written, 0)

    def _write(self, do: Callable[[], object], written: Callable[[], None], tries: int) -> None:
        self.turn.do(do, partial(self._written, do, written, tries))

    def _written(self, do: Callable[[], object], written: Callable[[], None], tries: int, outcome: Any) -> None:
        """A write that raises by itself comes again, later each time: it may always raise."""
        if not isinstance(outcome, Exception):
            written()
            return
        at = 0 if isinstance(outcome, Unwritten) else self.clock.now() + pause_after(tries)
        self._settling.append((at, partial(self._write, do, written, tries + 1)))

    def settles_at(self) -> Millis | None:
        """When something that could not be written is tried again."""
        return min((at for at, _ in self._settling), default=None)

    def begin(self) -> bool:
        """Begins what is on the disk, at the start of a turn. Whether there was anything."""
        raise NotImplementedError

    def settle(self, number: int, outcome: Any) -> None:
        """Gets what it returned or raised."""
        raise NotImplementedError

    def next_at(self) -> Millis | None:
        """When there will be something to begin; None: nobody knows."""
        raise NotImplementedError


@define(kw_only=True, eq=False)
class ReadsQueue(Beside):
    """A subscriber: what it raises on comes again, later each time, and is a dead letter after a day."""

    name: str
    queue: SqliteQueue
    use: Callable[[Sequence[ReceivedMessage]], Sequence[str]]  # it returns the ids of those that must come again
    objects: Objects
    observer: Observer
    at_most: int = AT_A_TIME
    _under_way: dict[int, ReceivedMessage] = field(factory=dict, init=False)

    def begin(self) -> bool:
        room = self.at_most - len(self._under_way)
        received = self.queue.receive(room) if room > 0 else []
        for one in received:
            self._under_way[self.start(partial(self.use, [one]))] = one
        return bool(received)

    def settle(self, number: int, outcome: Any) -> None:
        received = self._under_way.pop(number)
        is_done = not isinstance(outcome, BaseException) and not outcome
        self.write(partial(self._settle, received, is_done=is_done))

    def next_at(self) -> Millis | None:
        return self.queue.next_visible() if len(self._under_way) < self.at_most else None

    def _settle(self, received: ReceivedMessage, *, is_done: bool) -> None:
        if not is_done and self.clock.now() - received.sent_at >= GIVEN_UP_AFTER:
            self._give_up(received)
            is_done = True
        self.queue.settle([received], [] if is_done else [received.message_id])

    def _give_up(self, received: ReceivedMessage) -> None:
        key = f"{DEAD}{self.name}/{received.message_id}"
        letter = {
            "step": self.name,
            "number": int(received.message_id),
            "tries": received.receives,
            "sentAt": format_instant(received.sent_at),
            "givenUpAt": format_instant(self.clock.now()),
            "body": received.body,
        }
        self.objects.put(key, msgspec.json.encode(letter))
        self.observer.warn("a step is given up", key=key, tries=received.receives)
