"""An attempt begins with a slot of its environment (ADR 0113), and with a seat of each limit (ADR 0115)."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Lock, local
from typing import Final

from attrs import define, field, frozen

from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.flow.repository import StoredSeats
from delayer.flow.rules.block import Block, Party
from delayer.flow.rules.gate import SLOTS, Row, SeatHold, Taking, has_room, is_usable, over, seats_of, still_there, take
from delayer.flow.rules.limit import line_of
from delayer.flow.use_cases.limits import Limits, Missed
from delayer.schedule.instants import SECOND, Millis
from delayer.schedule.messages import ExecutorMessage

ROUNDS: Final = 4
PATIENCE: Final[Millis] = SECOND  # for a seat; then whoever waits goes, as no function is paid for waiting
ASKED_AGAIN: Final[Millis] = SECOND // 2  # after there was none: each refusal is paid for as a write is
STEP: Final[Millis] = 20
SLOT_PATIENCE: Final[Millis] = SECOND  # for a slot: targets that answer give theirs back by then
SLOT_STEP: Final[Millis] = 20


class NoSeat(Exception):
    """All seats of a limit are taken."""

    def __init__(self, limit: Block) -> None:
        super().__init__(limit.key)
        self.limit = limit


@define(kw_only=True)
class HeldSeats:
    """Seats of this environment."""

    hold: SeatHold
    seats: str  # the name of their row
    line: str  # of the limit as it was when they were taken: after a change they are not used any more
    used: int = 0


@frozen(kw_only=True)
class Seats:
    """Without a limit of this kind nothing is written, and nothing read."""

    clock: Clock
    seat_rows: StoredSeats
    new_token: Callable[[], str]
    observer: Observer
    held: list[HeldSeats] = field(factory=list, init=False)
    unknown: list[HeldSeats] = field(factory=list, init=False)  # nobody has said whether they are taken
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

    def _wait_for(self, limit: Block, give_up: Millis) -> HeldSeats:
        while (held := self.use(limit)) is None:
            self._ask(limit, 1)
            if (held := self.use(limit)) is not None:
                break
            if self.clock.now() >= give_up:
                raise NoSeat(limit)
            self.clock.sleep_until(self.clock.now() + STEP)
        return held

    def use(self, limit: Block) -> HeldSeats | None:
        """One that is here and free; None: none is."""
        with self._lock:
            held = next(iter(self.usable(limit)), None)
            if held:
                held.used += 1
            return held

    def leave(self, held: HeldSeats) -> None:
        """Its attempt is over."""
        with self._lock:
            held.used -= 1

    def usable(self, limit: Block) -> list[HeldSeats]:
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
            taking = take(row, wanted, limit.concurrency, self.clock.now(), self.new_token())
            if taking:
                row = self._written(limit, taking)
                if row is None:
                    return
            elif gone := over(row, self.clock.now()):  # the limit was lowered, and more than one write clears have died
                row = self.seat_rows.return_seats(seats_of(limit), gone)
            else:
                break
        self._again[line_of(limit)] = self.clock.now() + ASKED_AGAIN, ""

    def _written(self, limit: Block, taking: Taking) -> Row | None:
        held = HeldSeats(hold=taking.hold, seats=seats_of(limit), line=line_of(limit))
        try:
            row = self.seat_rows.take_seats(held.seats, taking)
        except Unavailable as error:
            with self._lock:
                self.unknown.append(held)
            self._again[line_of(limit)] = self.clock.now() + ASKED_AGAIN, str(error)
            raise
        if row is None:
            with self._lock:
                self.held.append(held)
        return row

    def _return(self, seats: str, holds: Sequence[SeatHold]) -> None:
        """Returns seats. One that others have removed, as its time was over, is theirs."""
        for _ in range(ROUNDS):
            if not holds or (row := self.seat_rows.return_seats(seats, holds)) is None:
                return
            holds = still_there(row, holds)


@frozen(kw_only=True)
class Seating:
    """An executor asks this for its batch, before an attempt, and at the last moment."""

    limits: Limits
    seats: Seats

    def any(self) -> bool:
        """Whether there are limits of the number at a time at all. Raises Unavailable."""
        return self.limits.any(at_a_time)

    def expect(self, messages: Iterable[ExecutorMessage]) -> None:
        """One write for each limit of a batch. Raises Unavailable, if it is not known what is limited."""
        wanted: Counter[Block] = Counter()
        for message in messages:
            wanted.update(self.limits.open(message, at_a_time))
        self.seats.expect(wanted)

    def one(self, message: ExecutorMessage) -> AbstractContextManager[None]:
        """A seat for its attempt. One that waits for another reason needs none. Raises NoSeat, Unavailable."""
        return self.seats.one(self.limits.open(message, at_a_time))

    def begin(self, message: ExecutorMessage) -> None:
        """The last look before an attempt. Raises Missed: another limit counts now, or too little time is left."""
        if not self.seats.has(self.limits.about(message.schedule, at_a_time)):
            raise Missed


def at_a_time(block: Block) -> bool:
    """Whether it is such a limit."""
    return block.concurrency > 0


class Crowded(Exception):
    """Too many attempts at this target, or of this owner, are under way already."""


@frozen(kw_only=True)
class Slots:
    """They cost nothing: each environment sees to its own."""

    clock: Clock
    _begun: "dict[object, Party]" = field(factory=dict, init=False)
    _waiting: "dict[object, Millis]" = field(factory=dict, init=False)  # since when: for a target, or for a turn
    _expected: set[object] = field(factory=set, init=False)  # attempts that are on their way to a slot
    _here: local = field(factory=local, init=False, repr=False, eq=False)  # the one of this thread, if it has one
    _lock: Lock = field(factory=Lock, init=False, repr=False, eq=False)

    @contextmanager
    def one(self, party: Party) -> Iterator[None]:
        """A slot for one attempt. Raises Crowded."""
        attempt = object()
        give_up = self.clock.now() + SLOT_PATIENCE
        while not self._take(attempt, party):
            if self.clock.now() >= give_up:
                raise Crowded
            self.clock.sleep_until(self.clock.now() + SLOT_STEP)
        try:
            yield
        finally:
            with self._lock:
                del self._begun[attempt]

    def _take(self, attempt: object, party: Party) -> bool:
        with self._lock:
            running = Counter(self._begun.values())
            of_owner = sum(number for one, number in running.items() if one.owner == party.owner)
            if not has_room(running[party], of_owner, len(self._begun)):
                return False
            self._begun[attempt] = party
            self._expected.discard(getattr(self._here, "expected", None))
            return True

    def expect(self) -> AbstractContextManager[None]:
        """From now on a slot is wanted by whoever enters this, until it has one, or leaves without."""
        expected = object()
        with self._lock:
            self._expected.add(expected)
        return self._until_it_has_one(expected)

    @contextmanager
    def _until_it_has_one(self, expected: object) -> Iterator[None]:
        self._here.expected = expected
        try:
            yield
        finally:
            self._here.expected = None
            with self._lock:
                self._expected.discard(expected)

    @contextmanager
    def kept_waiting(self) -> Iterator[None]:
        """By a target, or until a turn at one: nothing here makes it any shorter, and the batch waits for it, too.

        The ledger is not waited for in here: if it is slow, whatever else is received would be as slow.
        """
        attempt = object()
        with self._lock:
            self._waiting[attempt] = self.clock.now()
        try:
            yield
        finally:
            with self._lock:
                del self._waiting[attempt]

    def free(self) -> int:
        """How many are free, and not wanted by what was received already."""
        with self._lock:
            return SLOTS - len(self._begun) - len(self._expected)

    def longest(self) -> Millis:
        """How long the oldest has been waiting; 0 if there is none."""
        with self._lock:
            oldest = min(self._waiting.values(), default=None)
        return 0 if oldest is None else self.clock.now() - oldest
