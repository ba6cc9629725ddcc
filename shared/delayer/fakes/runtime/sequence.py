"""Order and tokens, without threads and without chance."""

from collections.abc import Callable, Iterable

from attrs import define

from delayer.ports.clock import Item, Outcome


class InOrder:
    """Port Parallel: one after the other."""

    def map(self, do: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
        return [do(item) for item in items]


@define
class Tokens:
    """Nonces `n1`, `n2`, … : each is new."""

    prefix: str = "n"
    count: int = 0

    def __call__(self) -> str:
        self.count += 1
        return f"{self.prefix}{self.count}"
