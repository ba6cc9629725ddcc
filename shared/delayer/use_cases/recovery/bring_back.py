"""Brings back the records that could not be handled when they came through the stream (ADR 0082)."""

from collections.abc import Sequence
from typing import Final, Protocol

from attrs import define, field

from delayer.core.firing.sweeping import OLD_SHARE, Gate
from delayer.core.recovery.waiting import PREFIXES, records_in
from delayer.core.schedule.instants import MINUTE, SECOND, Millis
from delayer.core.schedule.malformed import Malformed
from delayer.ports.clock import Clock
from delayer.ports.dead_letter_store import DeletesDeadLetters, ReadsDeadLetters
from delayer.ports.observer import Observer
from delayer.ports.stream_consumer import Died, StreamConsumer
from delayer.ports.unavailable import Unavailable

EVERY: Final[Millis] = 5 * MINUTE  # to list the store costs more than all else that an idle tick does
PAGE: Final = 100  # keys of one list
TOGETHER: Final = 25  # records of one request


class StoreOfBringBack(ReadsDeadLetters, DeletesDeadLetters, Protocol):
    """What it needs from the store."""


@define(kw_only=True)
class BringBack:
    """Once every five minutes: what waits is handled by the stream's own consumer, a share of the tick's time long."""

    clock: Clock
    store: StoreOfBringBack
    consumer: StreamConsumer
    observer: Observer
    budget: Millis = field(default=10 * SECOND)
    _last: Millis = field(default=0, init=False)
    _after: dict[str, str] = field(factory=dict, init=False)  # where to go on: what always fails starves no other

    def __call__(self, began: Millis, gate: Gate) -> None:
        """Raises nothing that AWS does: the next time it goes on."""
        if gate is Gate.CLOSED or began - self._last < EVERY:
            return
        self._last = began
        share = self.budget if gate is Gate.OPEN else self.budget // OLD_SHARE
        until = self.clock.now() + share
        try:
            for prefix in PREFIXES:
                self._bring_back(prefix, until)
        except Unavailable as error:
            self.observer.warn("not brought back", error=str(error))

    def _bring_back(self, prefix: str, until: Millis) -> None:
        after = self._after.pop(prefix, "")
        keys = self.store.list(prefix, after, PAGE)
        for key in keys:
            if self.clock.now() > until:
                return
            self._one(key)
            self._after[prefix] = key
        if len(keys) < PAGE:
            self._after.pop(prefix, None)

    def _one(self, key: str) -> None:
        """It is deleted when all in it is done. What is done twice is refused by the ledger the second time."""
        content = self.store.get(key)
        if content is None:
            return
        try:
            records = records_in(content)
        except Malformed as error:
            self.observer.warn("not brought back", key=key, error=error.reason)
            return
        left = sum(self._handle(records[at : at + TOGETHER]) for at in range(0, len(records), TOGETHER))
        self.observer.count("BroughtBack", len(records) - left)
        self.observer.note("brought back", key=key, records=len(records), left=left)
        if not left:
            self.store.remove(key)

    def _handle(self, records: Sequence[object]) -> int:
        """How many are left. If the consumer dies of several together, it gets each alone."""
        try:
            return self.consumer.handle(records)
        except Died as error:
            self.observer.warn("the stream's consumer died of what was brought back", error=str(error))
        return len(records) if len(records) == 1 else sum(self._handle([record]) for record in records)
