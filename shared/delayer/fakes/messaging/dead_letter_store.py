"""The dead-letter store."""

from attrs import Factory, define

from delayer.core.recovery import waiting as waiting_records
from delayer.core.recovery.dead_letter import DeadLetter, encode
from delayer.core.recovery.waiting import WaitingRecords


@define
class MemoryDeadLetterStore:
    """Port DeadLetterStore."""

    objects: dict[str, bytes] = Factory(dict)

    def put(self, letter: DeadLetter) -> None:
        self.objects[letter.key] = encode(letter)

    def set_aside(self, waiting: WaitingRecords) -> None:
        self.objects[waiting.key] = waiting_records.encode(waiting)

    def list(self, prefix: str, after: str, at_most: int) -> list[str]:
        return sorted(key for key in self.objects if key.startswith(prefix) and key > after)[:at_most]

    def get(self, key: str) -> bytes | None:
        return self.objects.get(key)

    def remove(self, key: str) -> None:
        self.objects.pop(key, None)
