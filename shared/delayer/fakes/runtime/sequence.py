"""Order and tokens, without threads and without chance."""

from collections.abc import Callable, Iterable
from typing import Generic

from attrs import define

from delayer.ports.clock import Item, Outcome


class InOrder:
    """Port Parallel: one after the other."""

    def map(self, do: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
        return [do(item) for item in items]


@define
class Over(Generic[Outcome]):
    """Port Running: it has ended."""

    outcome: Outcome

    def wait(self, seconds: float) -> bool:  # noqa: ARG002 - as the port
        return True

    def result(self) -> Outcome:
        return self.outcome


class AtOnce:
    """Port Background: it is done before the caller goes on."""

    def start(self, do: Callable[[], Outcome]) -> Over[Outcome]:
        return Over(do())


@define
class Tokens:
    """Nonces `n1`, `n2`, … : each is new."""

    prefix: str = "n"
    count: int = 0

    def __call__(self) -> str:
        self.count += 1
        return f"{self.prefix}{self.count}"
