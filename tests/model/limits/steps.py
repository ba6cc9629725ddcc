"""What environments, an operator and time do with a limit; by the code of flow/rules/limit.py and of the booking."""

from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

from delayer.engines.store.model import entry_key
from delayer.flow.repository import SLOTS_LIST, StoredLines
from delayer.flow.rules.limit import MICROS, TOLERANCE, Want, held, is_in_time
from delayer.flow.use_cases.turns import Booking
from delayer.schedule.instants import Millis
from delayer.schedule.messages import Slot
from tests.model.dict_store import DictStore
from tests.model.limits.state import EVERY, NOW, Copy, World, later
from tests.model.state import evolve

Step = tuple[str, World]
BATCH = 2
TABLE = "registry"


@frozen(kw_only=True)
class Rules:
    """What the functions go by. The row is written by the repository that they have, on a store in memory."""

    lines: type[StoredLines] = StoredLines
    held: Callable[..., Sequence[Slot]] = held
    in_time: Callable[..., bool] = is_in_time
    latest: Callable[[Copy], Millis] = lambda copy: NOW + copy.left
    goes_on_if_lost: bool = False
    books_again: bool = True


REAL = Rules()


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """All that may happen next."""
    yield from _bookings(world, rules)
    for copy in world.copies:
        if copy.slot and rules.in_time((copy.slot,), (world.limit,), NOW):
            yield from _attempts(world, copy)
        if world.budget.duplicates:
            yield f"{copy.name} is delivered twice", world.spend("duplicates").having((*world.copies, copy))
    if world.budget.changes:
        anew = evolve(world, generation=world.generation + 1, made=(), rows=(), known=((), ()))  # of another line
        yield "an operator changes the limit", anew.spend("changes")
    if world.copies:
        yield "time passes", later(world)


def _bookings(world: World, rules: Rules) -> Iterator[Step]:
    """A batch of those that have no turn that they could use."""
    asking = [one for one in world.copies if not _holds(world, rules, one) and (rules.books_again or not one.slot)]
    batches = [asking[:BATCH], asking[-1:]] if len(asking) > 1 else [asking] if asking else []
    for environment in range(len(world.known)):
        for batch in batches:
            names = " and ".join(one.name for one in batch)
            yield from _books(world, rules, environment, batch, f"{environment} books for {names}")


def _holds(world: World, rules: Rules, copy: Copy) -> bool:
    return bool(copy.slot and rules.held((copy.slot,), (world.limit,), NOW))


def _books(world: World, rules: Rules, environment: int, batch: Sequence[Copy], label: str) -> Iterator[Step]:
    lines = _lines(world, rules)
    booking = Booking(lines=lines)
    booking.ends.update(world.known[environment])
    turns = booking.book(world.limit, [Want(earliest=NOW, latest=rules.latest(one)) for one in batch])
    written = evolve(world, rows=tuple(sorted(lines.line_ends().items())))
    with_turns = [
        evolve(one, slot=Slot(line=world.line, at=turn) if turn else None)
        for one, turn in zip(batch, turns, strict=True)
    ]
    others = _without(world.copies, batch)
    known = list(world.known)
    known[environment] = tuple(sorted(booking.ends.items()))
    after = evolve(written.having((*others, *with_turns)), known=tuple(known))
    if any(one.slot and one.slot.at > NOW + one.left for one in with_turns):
        after = evolve(after, broken="a turn is booked that is of no use")
    yield label, after
    if world.budget.crashes:
        anew = (*known[:environment], (), *known[environment + 1 :])
        yield f"{label}, and dies", evolve(written.spend("crashes"), known=anew)
    if world.budget.lost:
        for what, row in (("it was written", written), ("it was not", world)):
            lost = row.spend("lost")
            after = lost.having((*others, *with_turns)) if rules.goes_on_if_lost else lost
            yield f"{label}, and is not told: {what}", after


def _lines(world: World, rules: Rules) -> StoredLines:
    """With the rows as they are now."""
    store = DictStore()
    for line, end in world.rows:
        store.hold(TABLE, entry_key(SLOTS_LIST, line), {"next": end})
    return rules.lines(store=store, table=TABLE)


def _without(copies: Sequence[Copy], batch: Sequence[Copy]) -> list[Copy]:
    left = list(copies)
    for one in batch:
        left.remove(one)
    return left


def _attempts(world: World, copy: Copy) -> Iterator[Step]:
    """All that are alike are refused from then on: the ledger says which one it was."""
    others = [one for one in world.copies if one.name != copy.name]
    made = (0, *world.made)
    after = evolve(world.having(others), made=made)
    if _too_many(made):
        after = evolve(after, broken="there are more attempts than the limit allows")
    yield f"{copy.name} is attempted", after
    if world.budget.failures:
        yield f"{copy.name} is attempted, and fails", after.spend("failures").having((*others, evolve(copy, slot=None)))


def _too_many(made: Sequence[Millis]) -> bool:
    """Attempts are made within TOLERANCE after their turns, and turns are EVERY apart."""
    ages = sorted(made)
    return any(
        last - first < (number * EVERY) // MICROS - TOLERANCE
        for at, first in enumerate(ages)
        for number, last in enumerate(ages[at + 1 :], start=1)
    )
