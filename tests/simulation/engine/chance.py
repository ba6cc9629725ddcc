"""All that is left to chance, from one seed.

Each draw goes by its label and its number among the draws of that label, not by a shared sequence: so what is left out
of a story hardly moves the rest of it, which is what makes a story shrink. A *surprise* is a draw that is dull nearly
always (no fault, no delay); those that were not are noted, and a story can be played again with only some of them.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Any, Final, TypeVar

from attrs import define, field

Thing = TypeVar("Thing")
PARTS: Final = 256**7
Surprise = tuple[str, int]  # label, and the number of the draw


@define
class Chance:
    """The draws of one story."""

    seed: int
    only: Collection[Surprise] | None = None  # the surprises that may happen; None: all
    calm: bool = False  # from now on nothing surprising happens
    happened: list[Surprise] = field(factory=list, init=False)
    _count: dict[str, int] = field(factory=lambda: defaultdict(int), init=False)
    _seeded: Any = field(init=False)  # the hash of what all draws have in common

    def __attrs_post_init__(self) -> None:
        self._seeded = blake2b(f"{self.seed}/".encode(), digest_size=7)

    def part(self, label: str) -> float:
        """A number from 0 up to, not including, 1."""
        self._count[label] = number = self._count[label] + 1
        drawn = self._seeded.copy()
        drawn.update(f"{label}/{number}".encode())
        return int.from_bytes(drawn.digest()) / PARTS

    def whole(self, label: str, low: int, high: int) -> int:
        """A whole number, both bounds included. As `part` draws, without the call: each request takes a while."""
        self._count[label] = number = self._count[label] + 1
        drawn = self._seeded.copy()
        drawn.update(f"{label}/{number}".encode())
        return low + int(int.from_bytes(drawn.digest()) / PARTS * (high - low + 1))

    def one_of(self, label: str, things: Sequence[Thing]) -> Thing:
        """One of them, each as likely as the others."""
        return things[int(self.part(label) * len(things))]

    def surprise(self, label: str, rate: float) -> bool:
        """Whether something rare happens just now."""
        if rate <= 0 or self.calm:
            self._count[label] += 1
            return False
        if self.part(label) >= rate:
            return False
        number = self._count[label]
        if self.only is not None and (label, number) not in self.only:
            return False
        self.happened.append((label, number))
        return True
