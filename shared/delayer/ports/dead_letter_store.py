"""Where dead letters are stored."""

from typing import Protocol

from delayer.core.recovery.dead_letter import DeadLetter
from delayer.core.recovery.waiting import WaitingRecords


class StoresDeadLetters(Protocol):
    """Part of DeadLetterStore."""

    def put(self, letter: DeadLetter) -> None:
        """Stores it under its key; to store it again changes nothing."""
        ...


class DeletesDeadLetters(Protocol):
    """Part of DeadLetterStore."""

    def remove(self, key: str) -> None:
        """Deletes it. It is no error if it is not there."""
        ...


class ReadsDeadLetters(Protocol):
    """Part of DeadLetterStore."""

    def list(self, prefix: str, after: str, at_most: int) -> list[str]:
        """Keys that begin so, in order, after one of them (empty: from the first)."""
        ...

    def get(self, key: str) -> bytes | None:
        """The content of one key, None if there is none."""
        ...


class SetsAside(Protocol):
    """Part of DeadLetterStore."""

    def set_aside(self, records: WaitingRecords) -> None:
        """Stores records of the stream that are to be brought back; to store them again changes nothing."""
        ...


class DeadLetterStore(StoresDeadLetters, DeletesDeadLetters, ReadsDeadLetters, SetsAside, Protocol):
    """All of it."""
