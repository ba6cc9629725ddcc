"""Moves messages and records between the functions of a stack in memory: for the tests, the test kit, the simulation.

A source gives out what it has batch by batch, and hears what became of each, as Lambda's event source mappings do: what
failed in a stream is given out again with all that follows it, and what failed in a queue after its visibility timeout.
The pump asks one source after the other, in the order of the manifest, and runs the functions with what there is. When
none has anything, it waits until the next thing is due (ADR 0175).

Who uses it says with `run` how a function is run: at once, beside others, or in a process of its own. A batch is
settled before `run` returns. Who decides what comes next, as the simulation does, uses the sources alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from typing import Any, Protocol

from attrs import define, field, frozen

from delayer.engines.ports import Clock, ReceivedMessage
from delayer.schedule.instants import MINUTE, Millis


@frozen(kw_only=True, eq=False)
class Batch:
    """The items that one run of a function is given."""

    source: "Source"
    items: Sequence[Any]  # records of a stream, messages of a queue; nothing, each minute
    shard: int = 0  # of a stream: nothing else of it is given out until this is settled
    unread: Mapping[int, str] = field(factory=dict)  # of a feed: the changes that cannot be read, and why

    @property
    def function(self) -> str:
        """Its name in the manifest."""
        return self.source.function

    def settle(self, failed: Sequence[str] | None) -> None:
        """The result of a run: the ids of what failed; None if the function died, or raised."""
        self.source.settle(self, failed)


@define(kw_only=True, eq=False)
class Source:
    """Where batches for one function come from. Whatever is put into it is there at once, if it says nothing else."""

    function: str

    def batches(self) -> Iterator[Batch]:
        """Returns the batches of now: one of a shard, some of a queue. Each is run before the next is taken."""
        raise NotImplementedError

    def settle(self, batch: Batch, failed: Sequence[str] | None) -> None:
        """As that of the batch."""

    def next_at(self) -> Millis | None:
        """When there will be something, unless something happens before; None: nobody knows of anything."""
        return None

    def is_empty(self) -> bool:
        """Whether nothing is in it, now or later."""
        return True


class ConsumedQueue(Protocol):
    """A queue, as its consumer sees it."""

    @property
    def name(self) -> str:
        """As the manifest has it."""
        ...

    def receive(self, at_most: int = 10) -> list[ReceivedMessage]:
        """Some of what is visible."""
        ...

    def settle(self, batch: Sequence[ReceivedMessage], failed: Sequence[str]) -> None:
        """Is done with what was not reported as failed."""
        ...

    def put_off(self, batch: Sequence[ReceivedMessage], until: Millis) -> None:
        """They are visible again then, and as if nobody had received them."""
        ...

    def next_visible(self) -> Millis | None:
        """When the next message can be received."""
        ...

    @property
    def messages(self) -> Sized:
        """All that are in it."""
        ...


@define(kw_only=True, eq=False)
class QueueSource(Source):
    """A queue. What is not settled comes again after its visibility timeout."""

    queue: ConsumedQueue
    at_most: int = 10
    alone: bool = False  # each message in a batch of its own, as many one after the other

    def batches(self) -> Iterator[Batch]:
        for _ in range(self.at_most if self.alone else 1):
            if batch := self.take():
                yield batch

    def take(self) -> Batch | None:
        """The next one."""
        received = self.queue.receive(1 if self.alone else self.at_most)
        return Batch(source=self, items=received) if received else None

    def settle(self, batch: Batch, failed: Sequence[str] | None) -> None:
        if failed is not None:
            self.queue.settle(batch.items, failed)

    def next_at(self) -> Millis | None:
        return self.queue.next_visible()

    def is_empty(self) -> bool:
        return not self.queue.messages


@define(kw_only=True, eq=False)
class Minutes(Source):
    """The rule that starts a function each minute, the first time at once.

    There is always another one: that is no reason to wait.
    """

    clock: Clock
    _last: Millis = field(init=False, default=0)

    def batches(self) -> Iterator[Batch]:
        if not 0 <= (now := self.clock.now()) - self._last < MINUTE:  # a clock may be set back
            self._last = now
            yield Batch(source=self, items=())

    def next_at(self) -> Millis | None:
        return self._last + MINUTE


@define(kw_only=True, eq=False)
class Pump:
    """Moves what is in the sources to the functions, one thing at a time."""

    sources: list[Source]
    run: Callable[[Batch], None]  # runs a function with a batch, and settles it; what it raises goes up
    wait_until: Callable[[Millis], None]  # moves the clock, or sleeps
    stopped: set[str] = field(factory=set)  # functions that are given nothing

    def step(self, *functions: str) -> bool:
        """One round: what each source has at this moment, or those of some functions. Whether there was anything."""
        moved = False
        for source in self.sources:
            if source.function not in self.stopped and (not functions or source.function in functions):
                for batch in source.batches():
                    self.run(batch)
                    moved = True
        return moved

    def settle(self) -> None:
        """Lets everything happen that happens at this moment."""
        while self.step():
            pass

    def run_until(self, instant: Millis) -> None:
        """Lets everything happen that happens up to an instant, each at its own time."""
        self.settle()
        while (following := self.next_at()) is not None and following <= instant:
            self.wait_until(following)
            self.settle()
        self.wait_until(instant)

    def next_at(self) -> Millis | None:
        """When the next thing happens."""
        instants = [one.next_at() for one in self.sources if one.function not in self.stopped]
        return min((one for one in instants if one is not None), default=None)

    def is_idle(self) -> bool:
        """Whether nothing is in any source."""
        return all(source.is_empty() for source in self.sources)
