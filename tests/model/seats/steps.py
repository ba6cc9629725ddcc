"""What environments, an operator and time do with the seats of a limit; by the code that functions run."""

from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

from delayer.engines.memory import ManualClock, MemoryObserver
from delayer.engines.ports import Unavailable
from delayer.engines.store.model import entry_key
from delayer.flow.repository import HOLD, SLOTS_LIST, StoredSeats, row_from
from delayer.flow.rules.block import Block
from delayer.flow.rules.gate import Row, SeatHold, Taking, seats_of
from delayer.flow.rules.limit import line_of
from delayer.flow.use_cases.seats import HeldSeats, Seats
from tests.model.dict_store import DictStore
from tests.model.seats.state import NOBODY, NOW, Attempt, Mine, World, later, limit_of
from tests.model.state import evolve

Step = tuple[str, World]
TABLE = "registry"


@frozen(kw_only=True)
class Rules:
    """What the functions go by. The row is written by the repository that they have, on a store in memory."""

    rows: type[StoredSeats] = StoredSeats
    seats: type[Seats] = Seats
    limit_of: Callable[[World], Block] = limit_of


REAL = Rules()


@frozen
class Silent:
    """Port KeepsSeats: it writes, and does not answer."""

    rows: StoredSeats

    def take_seats(self, seats: str, taking: Taking) -> Row | None:
        self.rows.take_seats(seats, taking)
        raise Unavailable("no answer")

    def return_seats(self, seats: str, holds: Sequence[SeatHold]) -> Row | None:
        return self.rows.return_seats(seats, holds)


@frozen
class Environment:
    """One, as it is in a world."""

    number: int
    seats: Seats
    store: DictStore

    def after(self, world: World, *, is_written: bool = True) -> World:
        """The world with what it knows now, and what it has written."""
        found = [(held, True) for held in self.seats.held] + [(held, False) for held in self.seats.unknown]
        mine = [Mine(hold=held.hold, generation=_generation(held), is_known=known) for held, known in found]
        row = _row_in(self.store) if is_written else world.row
        return evolve(world.having(self.number, mine), row=row)


def _generation(held: HeldSeats) -> int:
    return int(held.line.rpartition(".")[2]) - 1


def environment(world: World, rules: Rules, number: int, *, is_silent: bool = False) -> Environment:
    """As it is now."""
    store = _store(world)
    rows = rules.rows(store=store, table=TABLE)
    seats = rules.seats(
        clock=ManualClock(NOW),
        seat_rows=Silent(rows) if is_silent else rows,
        new_token=lambda: _unused(world),
        observer=MemoryObserver(),
    )
    for mine in world.mine[number]:
        limit = rules.limit_of(evolve(world, generation=mine.generation))
        used = sum((one.environment, one.hold) == (number, mine.hold.id) for one in world.running)
        held = HeldSeats(hold=mine.hold, seats=seats_of(limit), line=line_of(limit), used=used)
        (seats.held if mine.is_known else seats.unknown).append(held)
    return Environment(number, seats, store)


def _store(world: World) -> DictStore:
    """With the row as it is now."""
    store = DictStore()
    if world.row:
        seats, row = world.row
        holds = {HOLD + one.id: one.text for one in row.holds}
        store.hold(TABLE, entry_key(SLOTS_LIST, seats), {"taken": row.taken, **holds})
    return store


def _row_in(store: DictStore) -> tuple[str, Row] | None:
    """Its name, and what it says. The holds are in the order in which they were taken: worlds are told apart by it."""
    item = next(iter(store.items.values()), None)
    if item is None:
        return None
    row, written = row_from(item), list(item)
    return item["entry"], evolve(row, holds=tuple(sorted(row.holds, key=lambda one: written.index(HOLD + one.id))))


def _unused(world: World) -> str:
    there = {one.hold.id for mine in world.mine for one in mine} | {one.hold for one in world.running}
    there |= {hold.id for hold in world.row[1].holds} if world.row else set()
    return next(name for name in "0123456789" if name not in there)


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """All that may happen next."""
    for number in range(len(world.mine)):
        yield from _takes(world, rules, number)
        yield from _begins(world, rules, number)
        yield from _gives_back(world, rules, number)
        if world.budget.crashes and (world.mine[number] or any(one.environment == number for one in world.running)):
            yield f"{number} dies", _dead(world.spend("crashes"), number)
    for attempt in dict.fromkeys(world.running):
        left = world.with_running([one for one in world.running if one != attempt])
        yield f"{attempt.name} is answered", left
        if world.budget.failures and attempt.environment != NOBODY:
            again = evolve(left, waiting=left.waiting | {attempt.name})
            yield f"{attempt.name} fails", again.spend("failures")
    if world.generation + 1 < len(world.budget.seats):
        yield "an operator changes the limit", evolve(world, generation=world.generation + 1)
    if not world.is_done:
        yield "time passes", later(world)


def _takes(world: World, rules: Rules, number: int) -> Iterator[Step]:
    """For as many as wait."""
    if not world.waiting:
        return
    limit = rules.limit_of(world)
    label = f"{number} takes seats"
    one = environment(world, rules, number)
    one.seats.expect({limit: min(len(world.waiting), 2)})
    if one.store.writes:
        yield label, one.after(world)
    if world.budget.lost and one.store.writes:
        for is_written in (True, False):
            lost = environment(world, rules, number, is_silent=True)
            lost.seats.expect({limit: min(len(world.waiting), 2)})
            what = "it was written" if is_written else "it was not"
            yield f"{label}, and is not told: {what}", lost.after(world.spend("lost"), is_written=is_written)


def _begins(world: World, rules: Rules, number: int) -> Iterator[Step]:
    """An attempt of one that waits; they are alike."""
    if not world.waiting:
        return
    mine = environment(world, rules, number).seats.one([rules.limit_of(world)])
    if isinstance(mine, Block):
        return
    [held] = mine
    name = min(world.waiting)
    running = [*world.running, Attempt(name=name, environment=number, hold=held.hold.id)]
    after = evolve(world.with_running(running), waiting=world.waiting - {name})
    if len(running) > world.most:
        after = evolve(after, broken="there are more attempts at a time than the limit allows")
    yield f"{number} begins {name}", after


def _gives_back(world: World, rules: Rules, number: int) -> Iterator[Step]:
    """At the end of its invocation: nothing of it is under way."""
    if not world.mine[number] or any(one.environment == number for one in world.running):
        return
    one = environment(world, rules, number)
    one.seats.give_back()
    yield f"{number} gives back", one.after(world)
    if world.budget.lost:
        yield f"{number} gives back, and it is not written", one.after(world.spend("lost"), is_written=False)


def _dead(world: World, number: int) -> World:
    """Its messages come again, though its targets may be at work still."""
    lost = [one for one in world.running if one.environment == number]
    others = [one for one in world.running if one.environment != number]
    orphans = [evolve(one, environment=NOBODY) for one in lost]
    again = world.waiting | {one.name for one in lost}
    return evolve(world.having(number, ()).with_running([*others, *orphans]), waiting=again)
