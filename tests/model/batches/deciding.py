"""What becomes of a message of a batch, given what was read: nothing is asked for in here."""

from typing import Any, Final

from delayer.actions.rules.model import Done
from delayer.execute.rules import Attempt, DropStopped, Orphan, SendNext, Take, made_of
from delayer.flow.rules.block import unprobed
from delayer.flow.rules.gate import Probe, Wait
from delayer.ledger.model import Arrival, IllegalTransition, LedgerRow, Refuse, State
from delayer.ledger.rules import contested, ended, hopped, retried, taken
from delayer.schedule.instants import SECOND
from delayer.schedule.messages import ExecutorMessage, OutcomeMessage
from tests.model.batches.attempts import over
from tests.model.batches.rules import Rules
from tests.model.batches.state import DUE, PARTY, UNCOUNTED, Item, World, in_order, name_of
from tests.model.rules import is_far
from tests.model.state import evolve

SEATED: Final = ("in hand", "probing", "taking", "ready", "attempting")
NOT_ALLOWED: Final = "an outcome is written that the lifecycle does not allow"


def is_early(world: World, rules: Rules, item: Item) -> bool:
    """Whether it is to be looked at later."""
    if item.at != "in hand":
        return False
    waits = isinstance(item.message, ExecutorMessage) and rules.wait(item.message, world.time) is not None
    return waits or item.again > world.time


def decide(world: World, rules: Rules, number: int, at: int, row: LedgerRow | None) -> World:
    """What becomes of a message, given the row that was read."""
    item = world.environments[number].items[at]
    if isinstance(item.message, OutcomeMessage) and rules.carrier_only_writes:
        return _write_down(world, rules, number, at, row)
    decision = rules.attempt(item.message, row)
    match decision:
        case Attempt() | Take() if row:
            return _may_attempt(world, rules, number, at, row)
        case Attempt():
            return moved(world, rules, number, at, at="ready", row=None, read_at=world.now)
    world = give_back_probe(world, rules, item) if rules.probe_returned else world
    match decision:
        case SendNext() if row:
            return _send_next(world, rules, number, at, row)
        case DropStopped() if row:
            wanted = ended(row, State.DROPPED, world.time)
            return moved(world, rules, number, at, at="ending", row=row, wanted=wanted)
        case Refuse():
            return moved(world, rules, number, at, at="settled")
        case Orphan():
            return evolve(world, broken="it has reached an executor before its claim was stored")
    return left(world, rules, number, at)


def _may_attempt(world: World, rules: Rules, number: int, at: int, row: LedgerRow) -> World:
    """If it is not too early."""
    early = rules.early(row, world.time)
    if early and not is_far(early, world.time):
        return moved(world, rules, number, at, at="in hand", row=row, again=early.at)
    return gated(world.having(number, at, row=row, read_at=world.now, again=0), rules, number, at)


def moved(world: World, rules: Rules, number: int, place: int, /, at: str, **values: Any) -> World:
    """On to its next request. Whoever makes no attempt leaves its seat."""
    item = world.environments[number].items[place]
    is_seated = item.seat and at in SEATED and not values.get("again")
    if item.seat and not is_seated and item.at != "attempting" and not rules.seat_left:
        world = _leaked(world, number)
    return world.having(number, place, at=at, seat=is_seated, **values)


def _leaked(world: World, number: int) -> World:
    """Nobody uses it, and nobody knows."""
    seats = world.environments[number].seats - 1
    return evolve(with_seats(world, number, seats), dead_seats=world.dead_seats + 1)


def with_seats(world: World, number: int, seats: int) -> World:
    all_of_them = list(world.environments)
    all_of_them[number] = evolve(all_of_them[number], seats=seats)
    return evolve(world, environments=tuple(all_of_them))


def left(world: World, rules: Rules, number: int, at: int) -> World:
    """It comes again."""
    item = world.environments[number].items[at]
    after = give_back_probe(world, rules, item) if rules.probe_returned else world
    if item.seat and not rules.seat_left:
        after = _leaked(after, number)
    after = after.without(number, at)
    if item.message in after.messages:
        after = evolve(after, open=in_order((*after.open, item.message)))
    return after


def gated(world: World, rules: Rules, number: int, at: int) -> World:
    """The circuit of its target, as it is known now."""
    item, circuit = world.environments[number].items[at], world.circuit
    if circuit is None:
        return approved(world.having(number, at, circuit=None), rules, number, at)
    nonce, row = item.message.nonce, item.row
    if row and row.arrival is Arrival.TAKEN:
        return approved(world.having(number, at, circuit=circuit), rules, number, at)  # it is put off no more
    decision = rules.gate([circuit], PARTY, nonce, 0, 0)
    is_named = circuit.probe == nonce and decision is None
    is_copy = is_named and circuit.held_by not in ("", item.receipt) and rules.probe_alone
    if isinstance(decision, Wait) or is_copy:
        return _put_off(world, rules, number, at)
    if isinstance(decision, Probe) or (is_named and not circuit.held_by and rules.probe_marked):
        return moved(world, rules, number, at, at="probing", circuit=circuit)
    return approved(world.having(number, at, circuit=circuit), rules, number, at)


def _put_off(world: World, rules: Rules, number: int, at: int) -> World:
    """The gate is closed: another message waits on, with a token of its own."""
    item = world.environments[number].items[at]
    assert item.row is not None
    if not world.budget.closures or item.row.arrival is Arrival.TAKEN:
        return left(world, rules, number, at)
    message = item.message
    assert isinstance(message, ExecutorMessage)
    name, row = name_of(message), item.row
    wanted = hopped(row, f"{name}{row.revision + 1}", world.time, after=message.fence, retry_at=DUE)
    following = evolve(message, fence=wanted.fence, generation=wanted.generation)
    after = world.spend("closures")
    return moved(after, rules, number, at, at="hopping", wanted=wanted, following=following)


def approved(world: World, rules: Rules, number: int, at: int) -> World:
    """Nothing prevents its attempt; if there are several messages for it, it is taken first."""
    item = world.environments[number].items[at]
    assert item.row is not None
    if not rules.outcome_after:
        wanted = ended(item.row, State.EXECUTED, world.time)
        return moved(world, rules, number, at, at="writing", wanted=wanted)
    if item.row.arrival is Arrival.CONTESTED and rules.takes_first:
        wanted = taken(item.row, item.message.fence)
        return moved(world, rules, number, at, at="taking", wanted=wanted)
    return moved(world, rules, number, at, at="ready")


def give_back_probe(world: World, rules: Rules, item: Item) -> World:
    """Unless a copy of its message holds it."""
    circuit = world.circuit
    if circuit is None or circuit.probe != item.message.nonce or item.at == "attempting":
        return world
    if rules.probe_own and circuit.held_by not in ("", item.receipt):
        return world
    others = [one for one in world.all_items() if one is not item and one.at == "attempting"]
    if any(one.message.nonce == circuit.probe and circuit.held_by in ("", one.receipt) for one in others):
        return evolve(world, broken="a probe is given back that a copy of it makes")
    return evolve(world, circuit=unprobed(circuit))


def record(world: World, rules: Rules, number: int, at: int, row: LedgerRow, result: str, unwritten: str) -> World:
    """What is to be written; `unwritten` is what is to be carried if that fails."""
    item, now = world.environments[number].items[at], world.time
    following = None
    try:
        if result == "done":
            wanted = ended(row, State.EXECUTED, now)
        else:
            later = now + SECOND if world.budget.is_early else 0
            fence = f"{name_of(item.message)}{row.revision + 1}"
            wanted = retried(row, fence, now, after=item.message.fence, retry_at=later)
            following = evolve(attempt_of(item), attempt=wanted.attempt, fence=fence, generation=wanted.generation)
    except IllegalTransition:
        return evolve(world, broken=NOT_ALLOWED)
    return moved(world, rules, number, at, at="writing", row=row, wanted=wanted, following=following, result=unwritten)


def attempt_of(item: Item) -> ExecutorMessage:
    """Its message, or that of the attempt whose outcome it carries."""
    return made_of(item.message).message if isinstance(item.message, OutcomeMessage) else item.message


def _write_down(world: World, rules: Rules, number: int, at: int, row: LedgerRow | None) -> World:
    """The attempt was made before; only what came of it is written."""
    item = world.environments[number].items[at]
    assert isinstance(item.message, OutcomeMessage)
    assert row is not None
    made, message = made_of(item.message), item.message
    if isinstance(made.result, Done):
        if rules.may_end(row, message.nonce, message.fence, message.attempt, State.EXECUTED):
            return record(world, rules, number, at, row, "done", unwritten="")
        return moved(world, rules, number, at, at="settled")
    match rules.attempt(made.message, row):
        case Attempt() | Take() | DropStopped():
            return record(world, rules, number, at, row, "retry", unwritten="")
        case SendNext():
            return _send_next(over(world, item, UNCOUNTED), rules, number, at, row)
        case Refuse():
            return moved(over(world, item, UNCOUNTED), rules, number, at, at="settled")
    return left(world, rules, number, at)


def sending(world: World, rules: Rules, number: int, at: int, following: ExecutorMessage) -> World:
    message = world.environments[number].items[at].message
    if not rules.sends_first:
        world = evolve(world, messages=world.messages - {message})
    return moved(world, rules, number, at, at="sending", row=None, wanted=None, result="", following=following)


def overtaken(world: World, rules: Rules, number: int, at: int, current: LedgerRow) -> World:
    item = world.environments[number].items[at]
    match rules.attempt(attempt_of(item), current):
        case SendNext():
            return _send_next(world, rules, number, at, current)
        case DropStopped():
            wanted = ended(current, State.DROPPED, world.time)
            return moved(world, rules, number, at, at="ending", row=current, wanted=wanted, following=None, result="")
        case Refuse():
            return moved(world, rules, number, at, at="settled", row=None, wanted=None, following=None, result="")
    return left(world, rules, number, at)


def _send_next(world: World, rules: Rules, number: int, at: int, row: LedgerRow) -> World:
    """From now on the first of several messages that arrives makes the attempt."""
    item = world.environments[number].items[at]
    fence = f"{name_of(item.message)}{row.revision}e{world.sends + 1}"
    following = evolve(attempt_of(item), attempt=row.attempt, fence=fence, generation=row.generation)
    after = evolve(world, sends=world.sends + 1)
    if row.arrival is Arrival.CONTESTED or not rules.contests:
        return sending(after, rules, number, at, following)
    return moved(
        after,
        rules,
        number,
        at,
        at="contesting",
        row=row,
        wanted=contested(row),
        following=following,
        result="",
    )


def ends_again(world: World, number: int, at: int, current: LedgerRow, state: State) -> World:
    try:
        return world.having(number, at, row=current, wanted=ended(current, state, world.time))
    except IllegalTransition:
        return evolve(world, broken=NOT_ALLOWED)
