"""The time, and threads."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

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


Result = TypeVar("Result", covariant=True)


class Running(Protocol[Result]):
    """Something that was started."""

    def wait(self, seconds: float) -> bool:
        """Whether it has ended; waits for it so long at most."""
        ...

    def result(self) -> Result:
        """What it returned, or raises what it raised. Waits for it."""
        ...


class Background(Protocol):
    """Does something while the caller goes on."""

    def start(self, do: Callable[[], Outcome]) -> Running[Outcome]:
        """At once, whatever else is running."""
        ...


class Meeting(Protocol):
    """A lock within which threads wait for each other, as threading.Condition."""

    def __enter__(self) -> object: ...

    def __exit__(self, *error: Any) -> object: ...

    def wait(self, timeout: float | None = None) -> bool:
        """Lets the others in until somebody notifies, so many seconds at most. Whether somebody did."""
        ...

    def notify_all(self) -> None:
        """All who wait go on, one after the other."""
        ...


class Parallel(Protocol):
    """Does the same to many things at the same time."""

    def map(self, do: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
        """The outcomes in the order of the items. `do` handles its own errors."""
        ...
