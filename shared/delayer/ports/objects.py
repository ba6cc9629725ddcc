"""Objects: bodies in one bucket, found by their keys."""

from typing import Protocol


class Objects(Protocol):
    """One bucket. Each method raises Unavailable."""

    def put(self, key: str, content: bytes) -> None:
        """Stores JSON, in the place of what has this key."""
        ...

    def list(self, prefix: str, after: str, at_most: int) -> list[str]:
        """Keys that begin so, in order, after one of them (empty: from the first)."""
        ...

    def get(self, key: str) -> bytes | None:
        """None if there is none."""
        ...

    def remove(self, key: str) -> None:
        """It is no error if it is not there."""
        ...
