"""Does what happens each minute, in portions: a turn is short, however much there is to do (ADR 0185)."""

from collections.abc import Callable, Iterator
from typing import Final

from attrs import define, field, frozen

from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.schedule.instants import Millis
from delayer.wiring.pump import Minutes

BUDGET: Final[Millis] = 10  # of a turn; it begins no further page after this long
AT_A_TIME: Final = 20  # rows of a page


@define(kw_only=True, eq=False)
class InPortions(Minutes):
    """Each minute; and while more is left of that, in the next turn."""

    def go_on(self) -> None:
        """There is more to do. It is told when what was done is on the disk."""
        self._last = 0


@frozen(kw_only=True)
class Partly:
    """A use that says at its end what it could not do: all else that it did stays done, as it is on AWS."""

    use: Callable[[], bool]
    observer: Observer

    def __call__(self) -> bool:
        try:
            return self.use()
        except Unavailable as error:
            self.observer.warn("not all could be done: the next minute tries again", error=str(error))
            return True


@frozen(kw_only=True)
class Portions:
    """Goes through pages, some in a turn. What is left is forgotten with the process: the next minute begins anew."""

    clock: Clock
    pages: Callable[[], Iterator[object]]
    budget: Millis = BUDGET
    _going: list[Iterator[object]] = field(factory=list, init=False)

    def __call__(self) -> bool:
        """Whether that was all."""
        until = self.clock.now() + self.budget
        going = self._going.pop() if self._going else self.pages()
        for _ in going:
            if self.clock.now() > until:
                self._going.append(going)
                return False
        return True
