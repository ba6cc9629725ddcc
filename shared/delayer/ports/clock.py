"""The time, and threads."""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from delayer.core.schedule.instants import Millis

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Clock(Protocol):
    """The time, and waiting for an instant."""

    def now(self) -> Millis:
        """Milliseconds since the epoch, rounded down: never ahead of the true time."""
        ...

    def sleep_until(self, instant: Millis) -> None:
        """Returns at the instant or after it, at once if it has passed."""
        ...


class Parallel(Protocol):
    """Does the same to many things at the same time."""

    def map(self, do: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
        """The outcomes in the order of the items. `do` handles its own errors."""
        ...
