"""What an executor does with its batch, one request at a time, in the order of ADR 0180."""

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final

from delayer.actions.rules.model import Done, Retry
from delayer.execute.rules import Made, carried
from delayer.flow.rules.block import opened_again, probing
from delayer.ledger.model import Arrival
from delayer.schedule.messages import OutcomeMessage
from tests.model.batches.attempts import over, reached
from tests.model.batches.deciding import (
    approved,
    attempt_of,
    decide,
    gated,
    is_early,
    left,
    moved,
    record,
    with_seats,
)
from tests.model.batches.rules import Rules
from tests.model.batches.state import DEAD, LOST, Environment, Item, World, in_order, label_of, name_of
from tests.model.batches.writes import Touching, writes
from tests.model.state import evolve

Step = tuple[str, World]
HELD_UP: Final = "a slow target makes its neighbour wait"


def key(one: Environment) -> tuple[object, ...]:
    """Which of two environments is named first."""
    return one.seats, tuple((item.at, label_of(item.message), item.receipt, item.result) for item in one.items)


def steps(world: World, rules: Rules, number: int) -> Iterator[Step]:
    """Whatever may happen next in one environment. No target holds up what is not its own."""
    one = world.environments[number]
    if not one.items:
        yield from _receives(world, rules, number)
    found = list(_of_items(world, rules, number))
    for label, after, _ in found:
        yield label, after
    forward = frozenset[int]().union(*(touched for _, _, touched in found))
    for at, item in enumerate(one.items):
        is_beside = any(other.is_slow and other is not item for other in one.items)
        if is_beside and at not in forward and item.at != "attempting" and not is_early(world, rules, item):
            yield f"{label_of(item.message)} waits", evolve(world, broken=HELD_UP)
    if one.items and world.budget.crashes:
        yield "an environment dies", _dead(world.spend("crashes"), number)
    yield from _gives_back_seats(world, rules, number)


def _receives(world: World, rules: Rules, number: int) -> Iterator[Step]:
    """One message, or two."""
    batches = {*combinations(world.open, 1), *combinations(world.open, 2)}
    for batch in sorted(batches, key=lambda some: [label_of(one) for one in some]):
        left = list(world.open)
        items: list[Item] = []
        for message in batch:
            left.remove(message)
            items.append(Item(message=message, receipt=_receipt(world, items, label_of(message))))
        if not rules.handles_all and len(items) > 1:
            items[-1] = evolve(items[-1], at="settled")  # nobody reports it as failed
        after = evolve(world.with_items(number, tuple(items)), open=tuple(left))
        yield f"an environment receives {' and '.join(label_of(one) for one in batch)}", after


def _receipt(world: World, items: list[Item], label: str) -> str:
    """Another one than those that are, or have died, with a message of this name. Only circuits go by it."""
    if not world.budget.circuit:
        return ""
    name = f"{label} {world.budget.crashes}"
    return f"{name}'" if any(one.receipt == name for one in (*world.all_items(), *items)) else name


def _of_items(world: World, rules: Rules, number: int) -> Iterator[Touching]:
    yield from _takes_seats(world, rules, number)
    yield from _reads(world, rules, number)
    yield from writes(world, rules, number)
    for at, item in enumerate(world.environments[number].items):
        for label, after in ALONE.get(item.at, _nothing)(world, rules, number, at):
            yield label, after, frozenset({at})


def _nothing(world: World, rules: Rules, number: int, at: int) -> Iterator[Step]:
    yield from ()


def _forgets(world: World, rules: Rules, number: int, at: int) -> Iterator[Step]:
    """What is to be looked at later, and has lost its place in the batch, is no failure of it."""
    item = world.environments[number].items[at]
    if not rules.keeps_place and is_early(world, rules, item):
        yield f"{label_of(item.message)} is too early, and forgotten", world.having(number, at, at="settled")


def _deletes(world: World, rules: Rules, number: int, at: int) -> Iterator[Step]:
    """By its own outcome; with `deletes_own` taken out, the whole batch by that of one."""
    items = world.environments[number].items
    gone = {items[at].message} if rules.deletes_own else {item.message for item in items}
    after = evolve(world.without(number, at), messages=world.messages - gone)
    yield f"{label_of(items[at].message)} is deleted", after


def _takes_seats(world: World, rules: Rules, number: int) -> Iterator[Touching]:
    """For all of the batch that is due, with one write; as many as are free."""
    one, limit = world.environments[number], world.budget.seats
    if not limit or not rules.seat_first:
        return
    wanting = [
        at
        for at, item in enumerate(one.items)
        if item.at == "in hand" and not item.seat and not is_early(world, rules, item)
    ]
    used = sum(item.seat for item in one.items)
    taken_now = sum(other.seats for other in world.environments) + world.dead_seats
    more = max(min(len(wanting) - (one.seats - used), limit - taken_now), 0)
    seated = wanting[: one.seats - used + more]
    if not seated:
        return
    after = world
    for at in seated:
        after = after.having(number, at, seat=True)
    yield "an environment takes seats", with_seats(after, number, one.seats + more), frozenset(seated)


def _gives_back_seats(world: World, rules: Rules, number: int) -> Iterator[Step]:
    """Those that nobody uses, or will use soon."""
    one = world.environments[number]
    used = sum(item.seat for item in one.items)
    unused = one.seats - (used if rules.seat_kept else 0)
    if unused <= 0 or not rules.seat_returned:
        return
    other = world.environments[1 - number].seats
    if not rules.seat_own and other:
        yield "an environment gives back seats of another one", with_seats(world, 1 - number, max(other - unused, 0))
        return
    yield "an environment gives back seats", with_seats(world, number, one.seats - unused)


def _reads(world: World, rules: Rules, number: int) -> Iterator[Touching]:
    """The rows of all that is due, with one request; each decides."""
    items = world.environments[number].items
    due = [
        at
        for at, item in enumerate(items)
        if item.at == "in hand"
        and not is_early(world, rules, item)
        and (item.seat or not world.budget.seats or not rules.seat_first)
    ]
    if not due:
        return
    after = world
    for at in reversed(due):  # whoever leaves its batch moves those behind it
        item = items[at]
        row = item.row if item.again and not rules.later_reads else world.row(name_of(item.message))
        after = decide(after, rules, number, at, row)
    yield f"the rows of {' and '.join(label_of(items[at].message) for at in due)} are read", after, frozenset(due)


def _probes(world: World, rules: Rules, number: int, at: int) -> Iterator[Step]:
    """A compare-and-set on the row of the circuit."""
    item, circuit = world.environments[number].items[at], world.circuit
    label = label_of(item.message)
    if rules.probe_compared and (circuit is None or item.circuit is None or circuit.revision != item.circuit.revision):
        yield f"{label} finds another circuit", gated(world, rules, number, at)
        return
    assert item.circuit is not None
    mine = probing(item.circuit, item.message.nonce, 0, item.receipt if rules.probe_marked else "")
    probes = evolve(world, circuit=mine).having(number, at, circuit=mine)
    yield f"{label} is to probe", approved(probes, rules, number, at)


def _begins(world: World, rules: Rules, number: int, at: int) -> Iterator[Step]:
    """Beside all others. A row that was read too long ago is read again."""
    items = world.environments[number].items
    item, label = items[at], label_of(items[at].message)
    if rules.is_fresh and item.read_at < world.now:
        yield f"{label} is to be read again", world.having(number, at, at="in hand")
        return
    if not rules.side_by_side and any(one.at == "attempting" for one in items):
        return
    if world.budget.not_now:
        yield f"{label} cannot be begun now", left(world.spend("not_now"), rules, number, at)
    begun = reached(world, item)
    begun = begun if begun.broken else begun.having(number, at, at="attempting", has_taken=_has_taken(item))
    if not rules.deletes_last:
        begun = evolve(begun, messages=begun.messages - {item.message})
    yield f"the target is reached by {label}", begun
    if world.budget.slow and not begun.broken:
        slow = begun.spend("slow").having(number, at, is_slow=True)
        yield f"a slow target is reached by {label}", slow


def _has_taken(item: Item) -> bool:
    return item.row is not None and item.row.arrival is Arrival.TAKEN


def _answers(world: World, rules: Rules, number: int, at: int) -> Iterator[Step]:
    item = world.environments[number].items[at]
    label = label_of(item.message)
    answered = world.having(number, at, is_slow=False)
    yield f"{label} is answered", _made(answered, rules, number, at, "done")
    if world.budget.failures:
        yield f"{label} fails", _made(answered.spend("failures"), rules, number, at, "retry")


def _made(world: World, rules: Rules, number: int, at: int, result: str) -> World:
    """What it says about the circuit is written first: others go by it."""
    item, circuit = world.environments[number].items[at], world.circuit
    assert item.row is not None
    if circuit and circuit.probe == item.message.nonce:
        again = evolve(opened_again(circuit, 0, ""), pauses=1)
        world = evolve(world, circuit=None if result == "done" else again)
    return record(world, rules, number, at, item.row, result, unwritten=result)


def _sends(world: World, rules: Rules, number: int, at: int) -> Iterator[Step]:
    """The next attempt, or the outcome; then its own message may be deleted."""
    item = world.environments[number].items[at]
    message = item.following if item.at == "sending" else _carrier(item)
    assert message is not None
    label = label_of(message)
    values = {"row": None, "wanted": None, "following": None, "result": ""}
    yield f"{label} is sent", moved(world.put(message), rules, number, at, at="settled", **values)
    if world.budget.unanswered:
        lost = world.spend("unanswered")
        unknown = over(lost, item, LOST) if item.at == "carrying" else lost
        yield f"{label} cannot be sent", left(unknown, rules, number, at)
        yield f"{label} is sent, and reported as not sent", left(lost.put(message), rules, number, at)


def _carrier(item: Item) -> OutcomeMessage:
    result = Done("") if item.result == "done" else Retry(detail="")
    return carried(Made(message=attempt_of(item), result=result, lateness=0))


def _dead(world: World, number: int) -> World:
    """All of its messages come again, and nobody knows what became of its attempts."""
    one = world.environments[number]
    after = world
    for item in one.items:
        if item.at == "attempting" or item.result:
            after = over(after, item, DEAD)
    again = [item.message for item in one.items if item.message in world.messages]
    orphans = world.orphans + sum(item.at == "attempting" for item in one.items) if world.budget.seats else 0
    environments = list(world.environments)
    environments[number] = Environment()
    return evolve(
        after,
        environments=tuple(environments),
        open=in_order((*world.open, *again)),
        dead_seats=world.dead_seats + one.seats,
        orphans=orphans,
        has_died=True,
    )


ALONE: Final[dict[str, Callable[[World, Rules, int, int], Iterator[Step]]]] = {
    "in hand": _forgets,
    "probing": _probes,
    "ready": _begins,
    "attempting": _answers,
    "sending": _sends,
    "carrying": _sends,
    "settled": _deletes,
}
