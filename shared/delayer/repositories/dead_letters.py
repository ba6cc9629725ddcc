"""The dead-letter store: one object for each body."""

from typing import Generic, TypeVar

from attrs import frozen

from delayer.core.recovery import dead_letter, waiting
from delayer.core.recovery.dead_letter import DeadLetter
from delayer.core.recovery.waiting import WaitingRecords
from delayer.ports.objects import Objects

Engine = TypeVar("Engine", bound=Objects)


@frozen
class StoredDeadLetters(Generic[Engine]):
    """Port DeadLetterStore."""

    objects: Engine

    def put(self, letter: DeadLetter) -> None:
        self.objects.put(letter.key, dead_letter.encode(letter))

    def set_aside(self, records: WaitingRecords) -> None:
        self.objects.put(records.key, waiting.encode(records))

    def list(self, prefix: str, after: str, at_most: int) -> list[str]:
        return self.objects.list(prefix, after, at_most)

    def get(self, key: str) -> bytes | None:
        return self.objects.get(key)

    def remove(self, key: str) -> None:
        self.objects.remove(key)
