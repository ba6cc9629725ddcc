"""The topic of lifecycle events."""

from collections.abc import Sequence
from typing import Protocol

from attrs import frozen


@frozen(kw_only=True)
class Announcement:
    """A lifecycle event, ready to be published."""

    text: str  # a CloudEvent
    attributes: tuple[tuple[str, str], ...]  # by which subscribers filter; none is empty


class Topic(Protocol):
    """All of it."""

    def publish(self, announcements: Sequence[Announcement]) -> list[int]:
        """Publishes all, in as few requests as may be. Returns the positions of those not known to be published."""
        ...
