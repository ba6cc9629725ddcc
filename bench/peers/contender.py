"""What each scheduler can be asked, so that all are measured alike."""

from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Protocol, Self

from attrs import frozen

STEADY, MEANWHILE, BURST, AT_ONCE, CRASH, CANCEL, MEMORY = MEASURES = (
    "steady",
    "beside posts",
    "burst",
    "at once",
    "crash",
    "cancel",
    "memory",
)
CANCELLED = "cancelled"  # it will not fire
TOO_LATE = "too late"  # it has fired, or will
UNANSWERED = "unanswered"  # nobody knows


class Unavailable(Exception):
    """A scheduler cannot be installed or started here. The text is a sentence that says why."""


@frozen(kw_only=True)
class Memory:
    """What is used."""

    processes_mb: float  # proportional set size of the processes
    store_mb: float  # of files or tables
    beside_mb: float = 0  # of processes that come and go with the load, whatever waits


class Contender(Protocol):
    """A scheduler with its processes, while it is entered. Errors: Unavailable when it is entered."""

    settings: str  # that differ from its defaults, or that it has none
    measures: Collection[str]  # what it is asked for
    cannot: Mapping[str, str]  # what it has not, and so is not asked for; each with a sentence that says why
    fills_per_second: float  # about so many can be scheduled
    comes_back_seconds: int  # after a kill; what has not come then does not come in a time that can be waited for

    def __enter__(self) -> Self:
        """Start, and wait until it is ready."""
        ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End every process, and delete every file."""
        ...

    def schedule(self, url: str, times: Sequence[int]) -> Mapping[str, int]:
        """Schedule a request for each point in time (epoch ms); id -> point in time."""
        ...

    def cancel(self, schedule_id: str) -> str:
        """What it answers: CANCELLED, TOO_LATE or UNANSWERED."""
        ...

    def kill(self) -> None:
        """`kill -9` of everything that works. What stores stays."""
        ...

    def restart(self) -> None:
        """As the operator's supervisor would."""
        ...

    def waiting(self, missing: Collection[str]) -> int:
        """How many of those that have not arrived are still going to fire."""
        ...

    def memory(self) -> Memory | None:
        """What it uses now; None if this machine does not say."""
        ...
