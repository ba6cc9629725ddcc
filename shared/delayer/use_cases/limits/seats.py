"""The seats that one execution environment has, as long as its invocation runs (ADR 0115)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from threading import Lock, local
from typing import Final

from attrs import define, field, frozen

from delayer.core.flow.block import Block
from delayer.core.limits.line import line_of
from delayer.core.limits.seats import Hold, Row, Taking, is_usable, over, seats_of, still_there, take
from delayer.core.schedule.instants import SECOND, Millis
from delayer.ports.clock import Clock
from delayer.ports.observer import Observer
from delayer.ports.seats import KeepsSeats
from delayer.ports.unavailable import Unavailable

ROUNDS: Final = 4
PATIENCE: Final[Millis] = SECOND  # for a seat; then whoever waits goes, as no function is paid for waiting
ASKED_AGAIN: Final[Millis] = SECOND // 2  # after there was none: each refusal is paid for as a write is
STEP: Final[Millis] = 20


class NoSeat(Exception):
    """All seats of a limit are taken."""

    def __init__(self, limit: Block) -> None:
        super().__init__(limit.key)
        self.limit = limit


@define(kw_only=True)
class Held:
    """Seats of this environment."""

    hold: Hold
    seats: str  # the name of their row
    line: str  # of the limit as it was when they were taken: after a change they are not used any more
    used: int = 0


@frozen(kw_only=True)
class Seats:
    """Without a limit of this kind nothing is written, and nothing read."""

    clock: Clock
    rows: KeepsSeats
    new_id: Callable[[], str]
    observer: Observer
    held: list[Held] = field(factory=list, init=False)
    unknown: list[Held] = field(factory=list, init=False)  # nobody has said whether they are taken
    _again: dict[str, tuple[Millis, str]] = field(factory=dict, init=False)  # not before that; and why, if AWS failed
    _here: local = field(factory=local, init=False, repr=False, eq=False)  # what this thread uses
    _lock: Lock = field(factory=Lock, init=False, repr=False, eq=False)
    _asking: Lock = field(factory=Lock, init=False, repr=False, eq=False)

    def expect(self, wanted: Mapping[Block, int]) -> None:
        """One write for each limit: as many seats as its batch can use, less those that are there. Never raises."""
        for limit, number in wanted.items():
            try:
                self._ask(limit, number)
            except Unavailable as error:  # each attempt finds out by itself
                self.observer.warn("no seats taken", block=limit.key, error=str(error))

    @contextmanager
    def one(self, limits: Sequence[Block]) -> Iterator[None]:
        """A seat of each of them, for one attempt of this thread. Raises NoSeat, Unavailable."""
        give_up = self.clock.now() + PATIENCE
        with ExitStack() as seated:
            mine = []
            for limit in sorted(limits, key=lambda one: one.key):
                mine.append(self._wait_for(limit, give_up))
                seated.callback(self.leave, mine[-1])
            self._here.mine = mine
            seated.callback(setattr, self._here, "mine", [])
            yield

    def has(self, limits: Sequence[Block]) -> bool:
        """Whether this thread may begin an attempt now that these count."""
        now = self.clock.now()
        lines = {held.line for held in getattr(self._here, "mine", []) if is_usable(held.hold, now)}
        return all(line_of(limit) in lines for limit in limits)

    def give_back(self) -> None:
        """At the end of an invocation: a frozen environment would keep what others need. Never raises.

        What is in use still, though nobody waits for it, is left to its end.
        """
        with self._lock:
            returned = [held for held in self.held if not held.used] + self.unknown
            self.held.clear()
            self.unknown.clear()
            self._again.clear()
        for seats in sorted({held.seats for held in returned}):
            try:
                self._return(seats, [held.hold for held in returned if held.seats == seats])
            except Unavailable as error:
                self.observer.warn("seats not given back: they are free when their time is over", error=str(error))

    def _wait_for(self, limit: Block, give_up: Millis) -> Held:
        while (held := self.use(limit)) is None:
            self._ask(limit, 1)
            if (held := self.use(limit)) is not None:
                break
            if self.clock.now() >= give_up:
                raise NoSeat(limit)
            self.clock.sleep_until(self.clock.now() + STEP)
        return held

    def use(self, limit: Block) -> Held | None:
        """One that is here and free; None: none is."""
        with self._lock:
            held = next(iter(self.usable(limit)), None)
            if held:
                held.used += 1
            return held

    def leave(self, held: Held) -> None:
        """Its attempt is over."""
        with self._lock:
            held.used -= 1

    def usable(self, limit: Block) -> list[Held]:
        """Where a seat is free, and an attempt could begin."""
        now, line = self.clock.now(), line_of(limit)
        free = [held for held in self.held if held.line == line and held.used < held.hold.number]
        return [held for held in free if is_usable(held.hold, now)]

    def _ask(self, limit: Block, wanted: int) -> None:
        """For those of `wanted` that are not there. One at a time: what one thread gets, another one may use."""
        with self._asking:
            with self._lock:
                lacking = wanted - sum(held.hold.number - held.used for held in self.usable(limit))
                not_before, failed = self._again.get(line_of(limit), (0, ""))
            if lacking <= 0:
                return
            if self.clock.now() >= not_before:
                self._take(limit, lacking)
            elif failed:
                raise Unavailable(failed)

    def _take(self, limit: Block, wanted: int) -> None:
        row: Row | None = None
        for _ in range(ROUNDS):
            taking = take(row, wanted, limit.concurrency, self.clock.now(), self.new_id())
            if taking:
                row = self._written(limit, taking)
                if row is None:
                    return
            elif gone := over(row, self.clock.now()):  # the limit was lowered, and more than one write clears have died
                row = self.rows.return_seats(seats_of(limit), gone)
            else:
                break
        self._again[line_of(limit)] = self.clock.now() + ASKED_AGAIN, ""

    def _written(self, limit: Block, taking: Taking) -> Row | None:
        held = Held(hold=taking.hold, seats=seats_of(limit), line=line_of(limit))
        try:
            row = self.rows.take_seats(held.seats, taking)
        except Unavailable as error:
            with self._lock:
                self.unknown.append(held)
            self._again[line_of(limit)] = self.clock.now() + ASKED_AGAIN, str(error)
            raise
        if row is None:
            with self._lock:
                self.held.append(held)
        return row

    def _return(self, seats: str, holds: Sequence[Hold]) -> None:
        """Those that others have removed, as their time was over, are theirs."""
        for _ in range(ROUNDS):
            if not holds or (row := self.rows.return_seats(seats, holds)) is None:
                return
            holds = still_there(row, holds)
