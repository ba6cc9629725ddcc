"""Each rule of seats is taken out, one at a time. The search has to find what the rule prevents."""

from collections.abc import Sequence
from typing import Final

from attrs import evolve

from delayer.engines.ports import Unavailable
from delayer.engines.store.model import Change, entry_key
from delayer.flow.repository import HOLD, SLOTS_LIST, StoredSeats, row_from
from delayer.flow.rules.block import Block, Party
from delayer.flow.rules.gate import Row, SeatHold, Taking, is_usable
from delayer.flow.rules.limit import line_of
from delayer.flow.use_cases.seats import HeldSeats, Seats
from tests.model.guard import Guard
from tests.model.seats.state import NOW, Budget, World, limit_of
from tests.model.seats.steps import REAL


class WithoutEnd(StoredSeats):
    """Takes whether there is room or not."""

    def take_seats(self, seats: str, taking: Taking) -> Row | None:
        return super().take_seats(seats, evolve(taking, most=10**6))


class OnTrust(StoredSeats):
    """Whoever gives back is believed to have it."""

    def return_seats(self, seats: str, holds: Sequence[SeatHold]) -> Row | None:
        number, names = sum(one.number for one in holds), tuple(HOLD + one.id for one in holds)
        self.store.write(Change(self.table, entry_key(SLOTS_LIST, seats), add={"taken": -number}, remove=names))
        return None


class Keeps(StoredSeats):
    """Says nothing about who has them: what is over is never found."""

    def take_seats(self, seats: str, taking: Taking) -> Row | None:
        row = super().take_seats(seats, taking)
        return row and evolve(row, holds=())


class ToTheEnd(Seats):
    """Uses its seats as long as they are its own, and not only as long as an attempt is over in time."""

    def usable(self, limit: Block) -> list[HeldSeats]:
        own = [one for one in self.held if one.line == line_of(limit) and one.hold.until > NOW]
        return [one for one in own if one.used < one.hold.number]


class OfAnyLimit(Seats):
    """Uses its seats whatever the limit is by now."""

    def usable(self, limit: Block) -> list[HeldSeats]:
        return [one for one in self.held if one.used < one.hold.number and is_usable(one.hold, NOW)]


class GoesOnIfLost(Seats):
    """Whoever is not told goes on as if its seats were taken."""

    def expect(self, wanted: object) -> None:
        super().expect(wanted)  # type: ignore[arg-type]
        self.held.extend(self.unknown)
        self.unknown.clear()


class EarlyEnd(StoredSeats):
    """Takes away from others what is not over yet."""

    def take_seats(self, seats: str, taking: Taking) -> Row | None:
        row = super().take_seats(seats, taking)
        return row and evolve(row, holds=tuple(evolve(one, until=min(one.until, NOW)) for one in row.holds))

    def return_seats(self, seats: str, holds: Sequence[SeatHold]) -> Row | None:
        raise Unavailable("only what is taken away matters here")


class WithoutLook(EarlyEnd):
    """And does not look whether it is there as it was seen."""

    def take_seats(self, seats: str, taking: Taking) -> Row | None:
        ids = {one.id for one in taking.gone}
        item = self.store.get(self.table, entry_key(SLOTS_LIST, seats)) or {}
        there = tuple(one for one in row_from(item).holds if one.id in ids)
        return super().take_seats(seats, evolve(taking, gone=there))


def _of_a_generation(world: World) -> Block:
    """Another limit after each change."""
    return evolve(limit_of(world), party=Party(owner=f"o{world.generation}", target="http-request t"))


GUARDS: Final = (
    Guard(
        name="no more are taken than there are",
        what="two environments take all seats each",
        without=evolve(REAL, rows=WithoutEnd),
        possible=Budget(),
    ),
    Guard(
        name="who gives back has it",
        what="what was given to others, as its time was over, is given back a second time, and then to more",
        without=evolve(REAL, rows=OnTrust),
        possible=Budget(messages=3, seats=(1,)),
    ),
    Guard(
        name="what is over is found",
        what="the seats of who has died are nobody's for ever",
        without=evolve(REAL, rows=Keeps),
        possible=Budget(messages=1, seats=(1,), crashes=1),
    ),
    Guard(
        name="only what is over is taken away",
        what="a seat is given to another one while its attempt is under way",
        without=evolve(REAL, rows=WithoutLook),
        possible=Budget(messages=2, seats=(1,)),
    ),
    Guard(
        name="an attempt is over before its seat is",
        what="an attempt that begins late is under way when its seat is another's",
        without=evolve(REAL, seats=ToTheEnd),
        possible=Budget(messages=2, seats=(1,), crashes=1),
    ),
    Guard(
        name="a seat is of the limit as it is",
        what="seats of the limit as it was are used beyond the limit as it is",
        without=evolve(REAL, seats=OfAnyLimit),
        possible=Budget(messages=2, seats=(2, 1)),
    ),
    Guard(
        name="what is under way counts under another limit",
        what="a limit that is changed has all its seats free, beside what is under way",
        without=evolve(REAL, limit_of=_of_a_generation),
        possible=Budget(messages=2, seats=(1, 1)),
    ),
    Guard(
        name="who is not told has no seat",
        what="an environment whose write got no answer goes on as if it had seats",
        without=evolve(REAL, seats=GoesOnIfLost),
        possible=Budget(messages=2, seats=(1,), lost=1),
    ),
)
