"""A scheduler that cannot be had, or ends in the middle."""

from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Self

from bench.peers.contender import CANCELLED, Memory, Unavailable


class Scripted:
    """It says why, when it is entered or when it is used."""

    settings = "none"
    measures: Collection[str] = ()
    cannot: Mapping[str, str] = {}
    fills_per_second = 10_000.0
    comes_back_seconds = 1

    def __init__(self, *, at_start: str = "", in_use: str = "") -> None:
        self.at_start = at_start
        self.in_use = in_use
        self.is_stopped = False

    def __enter__(self) -> Self:
        if self.at_start:
            raise Unavailable(self.at_start)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.is_stopped = True

    def schedule(self, url: str, times: Sequence[int]) -> Mapping[str, int]:
        raise Unavailable(self.in_use)

    def cancel(self, schedule_id: str) -> str:
        return CANCELLED

    def kill(self) -> None: ...

    def restart(self) -> None: ...

    def waiting(self, missing: Collection[str]) -> int:
        return 0

    def memory(self) -> Memory | None:
        return None
