"""Virtual time, and functions that run side by side in it.

Each invocation is a greenlet: the use case runs as it is, and wherever it calls a port or sleeps, the others go on.
Nothing waits in real time, and nothing depends on threads: the same seed gives the same story.
"""

from collections.abc import Callable, Iterable
from functools import partial
from heapq import heappop, heappush
from typing import Any

from attrs import define, field
from greenlet import getcurrent, greenlet

from delayer.engines.memory import ManualClock
from delayer.engines.ports import Item, Outcome
from delayer.schedule.instants import Millis
from tests.fakes.faults import Crash

Do = Callable[[], Any]


@define(eq=False, slots=False)
class Invocation:
    """One run of a function."""

    function: str
    number: int
    skew: Millis  # how far its clock is off
    deadline: Millis  # its timeout: then it is killed, wherever it is
    about: frozenset[str] = frozenset()  # the schedules in its batch
    disturbed: bool = False  # a fault has hit it
    dead: bool = False
    began: Millis = 0
    environment: Any = None  # in which it runs, if that remembers anything
    is_blind: bool = False  # once in it, the blocks could not be read, or before it and not since
    ends_blind: bool = False  # the last read of that has failed

    def __str__(self) -> str:
        return f"{self.function}#{self.number}"


class Thread(greenlet):
    """A greenlet that knows whose it is, and what it has read: a batch may have two copies of one schedule."""

    invocation: Invocation
    body: Do  # what it is to do
    read: dict[str, Any]  # the ledger rows that it last read
    listed_at: Millis = 0  # of when what it last listed is


@define(eq=False)
class Kernel:
    """The events to come, and the clock that they move."""

    clock: ManualClock
    steps: int = field(default=0, init=False)  # what has happened so far
    _heap: list[tuple[Millis, int, Do]] = field(factory=list, init=False)
    _events: int = field(default=0, init=False)
    _until: Millis = field(default=0, init=False)  # up to then a function goes on if nothing else is to happen
    _idle: list["Thread"] = field(factory=list, init=False)  # threads that have nothing to do
    _hub: greenlet = field(factory=getcurrent, init=False)

    @property
    def now(self) -> Millis:
        """The true time."""
        return self.clock.at

    def at(self, instant: Millis, do: Do) -> None:
        """Lets something happen, after all else that was to happen at that instant."""
        self._events += 1
        heappush(self._heap, (max(instant, self.clock.at), self._events, do))

    def step(self, until: Millis) -> bool:
        """Lets the next thing happen; False if there is none up to `until`."""
        if not self._heap or self._heap[0][0] > until:
            return False
        instant, _, do = heappop(self._heap)
        self.clock.at = max(instant, self.clock.at)
        self.steps += 1
        self._until = until
        do()
        return True

    def halt(self) -> None:
        """Whoever runs comes back here when it waits next: somebody wants to look at it."""
        self._until = 0

    # ------------------------------------------------------------ invocations

    def start(self, invocation: Invocation, use: Do, done: Callable[[Any], None]) -> None:
        """Runs a function. `done` gets what it returned, or the exception or Crash that ended it."""

        def body() -> None:
            try:
                outcome = use()
            except (Exception, Crash) as error:  # noqa: BLE001 - Lambda, too, survives whatever a function raises
                outcome = error
            invocation.dead = True
            done(outcome)

        self.begin(body, invocation)

    def begin(self, body: Do, invocation: Invocation) -> None:
        """Its parent is whoever runs the events: there it goes back when it waits or ends."""
        thread = self._idle.pop() if self._idle else Thread(self._work, self._hub)
        thread.body, thread.invocation, thread.read, thread.listed_at = body, invocation, {}, 0
        self.at(self.now, thread.switch)

    def _work(self) -> None:
        """One thing after the other: to make a thread costs more than most of what they do."""
        thread = current()
        while True:
            thread.body()
            self._idle.append(thread)
            self._hub.switch()

    def wait_until(self, instant: Millis) -> None:
        """Called by a function: the others go on meanwhile. Raises Crash if its timeout comes first."""
        thread = current()
        invocation = thread.invocation
        until = min(instant, invocation.deadline)
        if until <= self._until and (not self._heap or self._heap[0][0] > until):
            self.clock.at = max(until, self.clock.at)  # it would be the next all the same, and a switch is not free
            self.steps += 1
        else:
            self.at(until, thread.switch)
            self._hub.switch()
        if invocation.dead or (instant > invocation.deadline):
            invocation.dead = invocation.disturbed = True
            raise Crash(f"{invocation} timed out")

    def pause(self) -> None:
        """Called by a function: until somebody switches to it."""
        self._hub.switch()

    def call(self, start: Callable[[Callable[[Any], None]], None]) -> Any:
        """A function waits for another invocation. `start` begins it, and hands on what to do with its outcome."""
        mother, outcomes = current(), list[Any]()

        def done(outcome: Any) -> None:
            outcomes.append(outcome)
            self.at(self.now, mother.switch)

        start(done)
        self._hub.switch()
        return outcomes[0]

    def side_by_side(self, do: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
        """Port Parallel's `map`, with threads of the calling function."""
        things = list(items)
        if len(things) < 2:
            return [do(thing) for thing in things]
        mother = current()
        outcomes: dict[int, Outcome] = {}
        died: list[BaseException] = []

        def body(position: int, thing: Item) -> None:
            try:
                outcomes[position] = do(thing)
            except (Exception, Crash) as error:  # noqa: BLE001 - it goes up to whoever asked
                died.append(error)
            if len(outcomes) + len(died) == len(things):
                self.at(self.now, mother.switch)

        for position, thing in enumerate(things):
            self.begin(partial(body, position, thing), mother.invocation)
        self._hub.switch()
        if died:
            raise died[0]
        return [outcomes[position] for position in range(len(things))]


def current() -> Thread:
    """The thread that is running."""
    thread = getcurrent()
    assert isinstance(thread, Thread), "only a function may wait"
    return thread


@define(eq=False)
class Turn:
    """A lock between the threads of one function. One of Python's own would wait for ever: they are greenlets."""

    kernel: Kernel
    _waiting: list[Thread] = field(factory=list, init=False)
    _is_taken: bool = field(default=False, init=False)

    def __enter__(self) -> None:
        if self._is_taken:
            self._waiting.append(current())
            self.kernel.pause()
        self._is_taken = True

    def __exit__(self, *_: object) -> None:
        """The next one goes on at once; it dies at its next call, if its function is dead."""
        if self._waiting:
            self.kernel.at(self.kernel.now, self._waiting.pop(0).switch)
        else:
            self._is_taken = False


@define(eq=False)
class VirtualWorkers:
    """Port Workers, in the threads of the function that leads them."""

    kernel: Kernel
    _busy: set[int] = field(factory=set, init=False)
    _ended: list[tuple[int, object]] = field(factory=list, init=False)
    _leader: "Waiter | None" = field(default=None, init=False)

    def begin(self) -> None:
        """What was left behind in an earlier invocation has ended, or died."""
        self._busy, self._ended = set(), []

    def start(self, number: int, do: Callable[[], object]) -> None:
        def body() -> None:
            try:
                self._note(number, do())
            except (Exception, Crash) as error:  # noqa: BLE001 - it goes up to whoever waits for it
                self._note(number, error)

        self._busy.add(number)
        self.kernel.begin(body, current().invocation)

    def do(self, number: int, do: Callable[[], object]) -> None:
        try:
            outcome = do()
        except Exception as error:  # noqa: BLE001 - as above
            outcome = error
        self._ended.append((number, outcome))

    def ended(self, until: Millis | None) -> list[tuple[int, object]]:
        """Raises Crash if its function is dead by then."""
        invocation = current().invocation
        if not self._ended and until != 0:
            latest = invocation.deadline if until is None else min(until - invocation.skew, invocation.deadline)
            self._leader = waiter = Waiter(thread=current())
            self.kernel.at(latest, waiter.go_on)
            self.kernel.pause()
            self._leader = None
            if not self._ended and self.kernel.now >= invocation.deadline:
                invocation.dead = invocation.disturbed = True
        if invocation.dead:
            raise Crash(f"{invocation} timed out")
        found, self._ended = self._ended, []
        return found

    def leave_behind(self, number: int) -> None:
        self._busy.discard(number)

    def _note(self, number: int, outcome: object) -> None:
        if number not in self._busy:
            return
        self._busy.discard(number)
        self._ended.append((number, outcome))
        if self._leader:
            self.kernel.at(self.kernel.now, self._leader.go_on)


@define(eq=False)
class Waiter:
    """A thread that waits for others."""

    thread: Thread
    _goes_on: bool = field(default=False, init=False)

    def go_on(self) -> None:
        """Once, whoever is first: the others or its time."""
        if not self._goes_on:
            self._goes_on = True
            self.thread.switch()


@define
class FunctionClock:
    """Port Clock: the clock of whichever function asks."""

    kernel: Kernel

    def now(self) -> Millis:
        return self.kernel.clock.at + current().invocation.skew

    def sleep_until(self, instant: Millis) -> None:
        thread = current()
        if instant > self.now():
            self.kernel.wait_until(instant - thread.invocation.skew)


@define
class SideBySide:
    """Port Parallel."""

    kernel: Kernel

    def map(self, do: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
        return self.kernel.side_by_side(do, items)
