"""An attempt has a seat of each limit of the number at a time (ADR 0115)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from attrs import define, field, frozen

from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.flow.ports import KeepsSeats
from delayer.flow.rules.block import Block
from delayer.flow.rules.gate import SeatHold, is_usable, over, seats_of, still_there, take
from delayer.flow.rules.limit import line_of
from delayer.schedule.instants import SECOND, Millis

ROUNDS: Final = 4
ASKED_AGAIN: Final[Millis] = SECOND // 2  # after there was none: each refusal is paid for as a write is


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
    seat_rows: KeepsSeats
    new_token: Callable[[], str]
    observer: Observer
    held: list[HeldSeats] = field(factory=list, init=False)
    unknown: list[HeldSeats] = field(factory=list, init=False)  # nobody has said whether they are taken
    # Of a line: nobody asks before that; and why, if AWS did not answer.
    _again: dict[str, tuple[Millis, Unavailable | None]] = field(factory=dict, init=False)

    def expect(self, wanted: Mapping[Block, int]) -> None:
        """One write for each limit: as many seats as are wanted, less those that are free here. Never raises."""
        for limit, number in wanted.items():
            lacking = number - sum(one.hold.number - one.used for one in self.usable(limit))
            if lacking > 0 and self.clock.now() >= self._again.get(line_of(limit), (0, None))[0]:
                self._take(limit, lacking)

    def one(self, limits: Iterable[Block]) -> list[HeldSeats] | Block:
        """A seat of each for one attempt; or the limit of which none is free. Raises Unavailable if nobody knows."""
        mine: list[HeldSeats] = []
        for limit in limits:
            if not (usable := self.usable(limit)):
                self.leave(mine)
                not_before, error = self._again.get(line_of(limit), (0, None))
                if error and self.clock.now() < not_before:
                    raise error
                return limit
            usable[0].used += 1
            mine.append(usable[0])
        return mine

    def leave(self, mine: Iterable[HeldSeats]) -> None:
        """Their attempt is over."""
        for held in mine:
            held.used -= 1

    def usable(self, limit: Block) -> list[HeldSeats]:
        """Where a seat is free, and an attempt could begin."""
        now, line = self.clock.now(), line_of(limit)
        free = [held for held in self.held if held.line == line and held.used < held.hold.number]
        return [held for held in free if is_usable(held.hold, now)]

    def lacking(self, mine: Iterable[HeldSeats], limits: Iterable[Block]) -> Block | None:
        """A limit of which an attempt has no seat that is its own until it is over; None: there is none."""
        now = self.clock.now()
        lines = {held.line for held in mine if is_usable(held.hold, now)}
        return next((limit for limit in limits if line_of(limit) not in lines), None)

    def give_back(self) -> None:
        """At the end of an invocation: a frozen environment would keep what others need. Never raises.

        What is in use still, though nobody waits for it, is left to its end.
        """
        returned = [held for held in self.held if not held.used] + self.unknown
        self.held.clear()
        self.unknown.clear()
        self._again.clear()
        for seats in sorted({held.seats for held in returned}):
            try:
                self._return(seats, [held.hold for held in returned if held.seats == seats])
            except Unavailable as error:
                self.observer.warn("seats not given back: they are free when their time is over", error=str(error))

    def _take(self, limit: Block, wanted: int) -> None:
        """As many as are free. If there are fewer, and after no answer, nobody asks again for a while."""
        line, row, error = line_of(limit), None, None
        for _ in range(ROUNDS):
            if taking := take(row, wanted, limit.concurrency, self.clock.now(), self.new_token()):
                held = HeldSeats(hold=taking.hold, seats=seats_of(limit), line=line)
                try:
                    row = self.seat_rows.take_seats(held.seats, taking)
                except Unavailable as raised:
                    self.unknown.append(held)
                    error = raised
                    break
                if row is None:
                    self.held.append(held)
                    self._again.pop(line, None)
                    return
            elif gone := over(row, self.clock.now()):  # the limit was lowered, and more than one write clears have died
                row = self.seat_rows.return_seats(seats_of(limit), gone)
            else:
                break
        if error:
            self.observer.warn("no seats taken", block=limit.key, error=str(error))
        self._again[line] = self.clock.now() + ASKED_AGAIN, error

    def _return(self, seats: str, holds: Sequence[SeatHold]) -> None:
        """Returns seats. One that others have removed, as its time was over, is theirs."""
        for _ in range(ROUNDS):
            if not holds or (row := self.seat_rows.return_seats(seats, holds)) is None:
                return
            holds = still_there(row, holds)
