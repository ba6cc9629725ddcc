"""Whether an attempt may be made, and why if it is made once more: the reasons of ADR 0044, and no other."""

from typing import Final

from delayer.execute.rules import Attempt, DropStopped, Take, decide_attempt
from delayer.ledger.model import Arrival, LedgerRow
from delayer.schedule.messages import ExecutorMessage, OutcomeMessage
from tests.model.batches.state import (
    BEGUN,
    BETWEEN,
    CARRIED,
    CRASH,
    DEAD,
    DUE,
    DUPLICATE,
    LOST,
    OVERTAKEN,
    TWIN,
    UNCARRIED,
    UNCOUNTED,
    Item,
    World,
    name_of,
)
from tests.model.state import evolve

WITHOUT_A_REASON: Final = "it reaches the target once more, without a reason"
FIRST: Final = "a"


def over(world: World, item: Item, how: str) -> World:
    """What became of an attempt."""
    past = world.past | {(name_of(item.message), item.message.attempt, how)}
    return evolve(world, past=past)


def reached(world: World, item: Item) -> World:
    """The target is reached, now."""
    what = _forbidden(world, item) or _too_many(world)
    return evolve(world, broken=what) if what else _probing(_repeated(world, item), item)


def _forbidden(world: World, item: Item) -> str:
    """By what it has read, or must have read."""
    row, message, is_first = item.row, item.message, name_of(item.message) == FIRST
    if world.time < DUE:
        return "the target is reached early"
    if world.row(name_of(message)) is None or row is None:
        return "an attempt is made before its claim is stored"
    is_overtaken = not row.admits(message.fence, message.attempt) or row.nonce != message.nonce
    is_late = world.stopped_at is not None and world.now > world.stopped_at
    wrong = {
        "what was cancelled reaches its target": is_first and world.is_revoked,
        "an attempt is made though its row says that it has ended": row.ended,
        "an attempt is made though its row says that it was overtaken": is_overtaken,
        "an attempt is made that nobody has taken": row.arrival is Arrival.CONTESTED,
        "an attempt is made before its delay is over": row.retry_at > world.time,
        "an attempt is made though its row says that it was stopped": bool(row.stopped_at),
        "an attempt is made more than half a second after it was stopped": is_first and is_late,
    }
    return next((what for what, is_so in wrong.items() if is_so), "")


def _too_many(world: World) -> str:
    at_target = sum(one.at == "attempting" for one in world.all_items()) + world.orphans
    return "there are more attempts at a time than seats" if 0 < world.budget.seats <= at_target else ""


def _repeated(world: World, item: Item) -> World:
    """If it was made before, one of the reasons has to be there. What cannot come twice is used up."""
    name, attempt = name_of(item.message), item.message.attempt
    same = [one for one in world.all_items() if one is not item and _is_attempt(one) and _is_of(one, name, attempt)]
    past = {how for who, number, how in world.past if (who, number) == (name, attempt)}
    carriers = [
        one
        for one in world.messages
        if isinstance(one, OutcomeMessage) and one != item.message and name_of(one) == name and one.attempt == attempt
    ]
    if not past:
        return over(world, item, BEGUN)
    why, used = _reason(world, item, same, past, is_carried=bool(carriers))
    if not why:
        return evolve(world, broken=WITHOUT_A_REASON)
    return evolve(world, repeated=world.repeated | {why}, past=world.past - {(name, attempt, used)})


def _reason(world: World, item: Item, same: list[Item], past: set[str], *, is_carried: bool) -> tuple[str, str]:
    """And which of what is over is used up by it."""
    message, row = item.message, world.row(name_of(item.message))
    another = OVERTAKEN if message.attempt == 1 else TWIN
    is_current = row is not None and item.row is not None and row.revision == item.row.revision
    if isinstance(message, ExecutorMessage) and not is_current and not _may_be_made(message, row):
        return BETWEEN, ""
    if DEAD in past:
        return CRASH, DEAD
    if LOST in past:
        return UNCARRIED, LOST
    if is_carried:
        return CARRIED, ""
    if message.fence in world.twice and any(one.message == message for one in same):
        return DUPLICATE, ""
    if any(one.message.fence != message.fence and not one.has_taken for one in same):
        return another, ""
    if UNCOUNTED in past:
        return DUPLICATE if world.twice else another, UNCOUNTED
    return "", ""


def _may_be_made(message: ExecutorMessage, row: LedgerRow | None) -> bool:
    return isinstance(decide_attempt(message, row), Attempt | Take | DropStopped)


def _is_attempt(item: Item) -> bool:
    return item.at == "attempting" or bool(item.result)


def _is_of(item: Item, name: str, attempt: int) -> bool:
    return name_of(item.message) == name and item.message.attempt == attempt


def _probing(world: World, item: Item) -> World:
    """While a circuit is open, one schedule is at its target: the one that its row names."""
    circuit = world.circuit
    if circuit is None or world.broken:
        return world
    others = [one for one in world.all_items() if one.at == "attempting" and one.message.nonce != item.message.nonce]
    if not others:
        return world
    return evolve(world, broken="two schedules probe at the same time")
