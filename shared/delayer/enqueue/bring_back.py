"""Brings back the records that could not be handled when they came through the stream (ADR 0082)."""

import json
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from attrs import define, field

from delayer.dead_letters.model import DISCARDED, WAITING, is_forgotten, records_in, rest_of
from delayer.dead_letters.ports import DeadLetterStore
from delayer.engines.ports import Clock, Observer, Parallel, Unavailable
from delayer.enqueue.rules import OLD_SHARE, SweepGate
from delayer.recovery.ports import Died, StreamConsumer
from delayer.schedule.instants import MINUTE, SECOND, Malformed, Millis

EVERY: Final[Millis] = 5 * MINUTE  # to list the store costs more than all else that an idle tick does
PAGE: Final = 100  # keys of one list
SIDE_BY_SIDE: Final = 4  # objects
TOGETHER: Final = 25  # records of one request
BYTES: Final = 2_000_000  # of one request: Lambda takes six million, and a single record is below half a million


@define(kw_only=True)
class BringBack:
    """The stream's own consumer handles the records that wait, for a share of the tick's time.

    A round begins every five minutes. What does not fit into its time goes on with the next tick.
    """

    clock: Clock
    parallel: Parallel
    dead_letter_store: DeadLetterStore
    stream_consumer: StreamConsumer
    observer: Observer
    budget: Millis = field(default=10 * SECOND)
    _next: Millis = field(default=0, init=False)  # when the next round begins
    _after: dict[str, str] = field(factory=dict, init=False)  # where to go on: what always fails starves no other

    def __call__(self, began: Millis, gate: SweepGate) -> None:
        """Raises nothing that AWS does: it goes on in its next round."""
        if gate is SweepGate.CLOSED or began < self._next:
            return
        end = self.clock.now() + (self.budget if gate is SweepGate.OPEN else self.budget // OLD_SHARE)
        half = self.clock.now() + (end - self.clock.now()) // 2
        finished = [self._bring_back(DISCARDED, half), self._bring_back(WAITING, end)]
        self._next = began + EVERY if all(finished) else 0

    def _bring_back(self, prefix: str, until: Millis) -> bool:
        """Whether it came to the last object."""
        while True:
            try:
                keys = self.dead_letter_store.list(prefix, self._after.get(prefix, ""), PAGE)
            except Unavailable as error:
                self.observer.warn("not brought back", error=str(error))
                return False
            for at in range(0, len(keys), SIDE_BY_SIDE):
                if self.clock.now() > until:
                    return False
                some = keys[at : at + SIDE_BY_SIDE]
                self._after[prefix] = some[-1]
                self.parallel.map(partial(self._one, until), some)
            if len(keys) < PAGE:
                self._after.pop(prefix, None)
                return True

    def _one(self, until: Millis, key: str) -> None:
        """It is deleted when all in it is done. What is done twice is refused by the ledger the second time."""
        try:
            is_done = self._handle_object(until, key)
        except (Malformed, Unavailable) as error:
            self.observer.warn("not brought back", key=key, error=str(error))
            is_done = False
        if not is_done and is_forgotten(key, self.clock.now()):
            self.observer.count("NotBroughtBack")

    def _handle_object(self, until: Millis, key: str) -> bool:
        content = self.dead_letter_store.get(key)
        if content is None:  # another tick was faster
            return True
        records = records_in(content)
        left: list[object] = []
        for number, part in enumerate(_parts(records)):  # what is begun is not left without having been tried
            left += part if number and self.clock.now() > until else self._handle(until, part)
        self.observer.count("BroughtBack", len(records) - len(left))
        self.observer.note("brought back", key=key, records=len(records), left=len(left))
        if left and len(left) < len(records):
            self.dead_letter_store.set_aside(rest_of(content, left, self.clock.now()))
        if len(left) < len(records):
            self.dead_letter_store.remove(key)
        return not left

    def _handle(self, until: Millis, records: Sequence[object]) -> Sequence[object]:
        """Returns the records that are left. If the consumer dies of several together, it gets each alone."""
        try:
            return [records[position] for position in self.stream_consumer.handle(records)]
        except Died as error:
            self.observer.warn("the stream's consumer died of what was brought back", error=str(error))
        if len(records) == 1:
            return records
        alone = ([record] for record in records)
        return [left for one in alone for left in (one if self.clock.now() > until else self._handle(until, one))]


def _parts(records: Sequence[object]) -> Iterator[Sequence[object]]:
    """Few and small enough for one request."""
    part: list[object] = []
    size = 0
    for record in records:
        more = len(json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        if part and (len(part) == TOGETHER or size + more > BYTES):
            yield part
            part, size = [], 0
        part.append(record)
        size += more
    if part:
        yield part
