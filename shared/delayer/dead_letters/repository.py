"""The dead-letter store: one object for each body."""

from typing import Generic, TypeVar

from attrs import frozen

from delayer.dead_letters import model
from delayer.dead_letters.model import DeadLetter, WaitingRecords
from delayer.engines.ports import Objects

Engine = TypeVar("Engine", bound=Objects)


@frozen
class StoredDeadLetters(Generic[Engine]):
    """Stores each dead letter as an object, under its key."""

    objects: Engine

    def put(self, letter: DeadLetter) -> None:
        self.objects.put(letter.key, model.encode(letter))

    def set_aside(self, records: WaitingRecords) -> None:
        self.objects.put(records.key, model.encode_waiting(records))

    def list(self, prefix: str, after: str, at_most: int) -> list[str]:
        return self.objects.list(prefix, after, at_most)

    def get(self, key: str) -> bytes | None:
        return self.objects.get(key)

    def remove(self, key: str) -> None:
        self.objects.remove(key)
