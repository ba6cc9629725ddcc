"""Where dead letters are stored."""

from typing import Protocol

from delayer.dead_letters.model import DeadLetter, WaitingRecords


class DeadLetterStore(Protocol):
    """Keeps what could not be delivered, and what the stream gave up on."""

    def put(self, letter: DeadLetter) -> None:
        """Stores it under its key; to store it again changes nothing."""
        ...

    def remove(self, key: str) -> None:
        """Deletes it. It is no error if it is not there."""
        ...

    def list(self, prefix: str, after: str, at_most: int) -> list[str]:
        """Keys that begin so, in order, after one of them (empty: from the first)."""
        ...

    def get(self, key: str) -> bytes | None:
        """The content of one key, None if there is none."""
        ...

    def set_aside(self, records: WaitingRecords) -> None:
        """Stores records of the stream that are to be brought back; to store them again changes nothing."""
        ...
