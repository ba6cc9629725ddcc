"""The topic of lifecycle events."""

from collections.abc import Callable, Sequence
from typing import Protocol

from attrs import frozen


@frozen(kw_only=True)
class Announcement:
    """A lifecycle event, ready to be published."""

    text: str  # a CloudEvent
    attributes: tuple[tuple[str, str], ...]  # by which subscribers filter; none is empty


def nobody_asks(_position: int) -> None:
    """For callers to whom a refusal is all the same."""


class Topic(Protocol):
    """All of it."""

    def publish(self, announcements: Sequence[Announcement], refused: Callable[[int], None] = nobody_asks) -> list[int]:
        """Publishes all, in as few requests as may be. Returns the positions of those not known to be published.

        `refused` gets the position of each that the topic will never take: it is lost, and not among those returned.
        """
        ...
