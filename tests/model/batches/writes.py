"""The changes of the ledger that a batch asks for, alone or together; each goes on by its own answer."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from delayer.execute.rules import Attempt, Take
from delayer.ledger.model import LedgerRow, State
from delayer.schedule.messages import OutcomeMessage
from tests.model.batches.attempts import over
from tests.model.batches.deciding import (
    attempt_of,
    decide,
    ends_again,
    give_back_probe,
    left,
    moved,
    overtaken,
    record,
    sending,
)
from tests.model.batches.rules import Rules
from tests.model.batches.state import UNCOUNTED, WRITTEN, Item, World, label_of, name_of, plain
from tests.model.state import evolve

Touching = tuple[str, World, frozenset[int]]  # and which items of the batch it brings forward
WRITES: Final = ("taking", "ending", "writing", "hopping", "contesting")


def writes(world: World, rules: Rules, number: int) -> Iterator[Touching]:
    """Any of what is to be written, alone or together: each has its own condition, and its own answer."""
    items = world.environments[number].items
    pending = [at for at, item in enumerate(items) if item.at in WRITES]
    if not rules.writes_at_once and any(item.at == "attempting" for item in items):
        pending = [at for at in pending if items[at].at != "writing"]
    for size in range(1, len(pending) + 1):
        for group in combinations(pending, size):
            names = [name_of(items[at].message) for at in group]
            if rules.once and len(set(names)) < len(names):
                continue  # the second waits for the next request
            if not rules.once and len(pending) > 1 and len(set(_names(items, pending))) == 1:
                continue  # both are in it, and so it is refused as a whole, again and again
            yield from _group(world, rules, number, group)


def _names(items: tuple[Item, ...], some: list[int]) -> list[str]:
    return [name_of(items[at].message) for at in some]


def _group(world: World, rules: Rules, number: int, group: tuple[int, ...]) -> Iterator[Touching]:
    items = world.environments[number].items
    what = " and ".join(f"{items[at].at} of {label_of(items[at].message)}" for at in group)
    written, is_written = _applied(world, items, group)
    believed = is_written
    if not rules.own_answers:
        believed = dict.fromkeys(group, any(is_written.values()))
    if not rules.in_their_order:
        believed = dict(zip(group, reversed(list(is_written.values())), strict=True))
    after = written
    for at in reversed(group):
        after = _goes_on(after, rules, number, at, is_written=believed[at])
    yield f"written: {what}", after, frozenset(group)
    if world.budget.unwritten and any(items[at].at == "writing" for at in group):
        parts = {(), group, group[:1]}
        for part in sorted(parts):
            lost, _ = _applied(world.spend("unwritten"), items, part)
            for at in reversed(group):
                lost = _not_written(lost, rules, number, at)
            yield f"not answered: {what}, of which {len(part)} written", lost, frozenset(group)


def _applied(world: World, items: tuple[Item, ...], group: tuple[int, ...]) -> tuple[World, dict[int, bool]]:
    """Each over the row that was read, if that is there still."""
    is_written: dict[int, bool] = {}
    for at in group:
        item = items[at]
        assert item.row is not None
        assert item.wanted is not None
        name = name_of(item.message)
        current = world.row(name)
        is_written[at] = current is not None and current.revision == item.row.revision
        if is_written[at]:
            world = _checked(world.with_row(name, item.wanted), item, current)
    return world, is_written


def _checked(world: World, item: Item, current: LedgerRow | None) -> World:
    """An outcome is that of an attempt, over the claim of its own message."""
    assert item.wanted is not None
    message = item.message
    if item.at != "writing":
        return world
    is_carrier = isinstance(message, OutcomeMessage)
    if not item.result and not is_carrier:
        return evolve(world, broken="an outcome is written before its attempt")
    is_own = current and (current.admits(message.fence, message.attempt) or item.wanted.state is State.EXECUTED)
    if not is_own:
        return evolve(world, broken="the outcome of one message is written over the claim of another")
    return over(world, item, WRITTEN)


def _goes_on(world: World, rules: Rules, number: int, at: int, *, is_written: bool) -> World:
    """By its own answer."""
    item = world.environments[number].items[at]
    assert item.wanted is not None
    if not is_written:
        return _in_the_way(world, rules, number, at)
    match item.at:
        case "taking":
            return moved(world, rules, number, at, at="ready", row=plain(item.wanted), read_at=world.now)
        case "ending":
            return moved(give_back_probe(world, rules, item), rules, number, at, at="settled", row=None, wanted=None)
    if item.following is None:
        return moved(world, rules, number, at, at="settled", row=None, wanted=None, result="")
    return sending(world, rules, number, at, item.following)


def _in_the_way(world: World, rules: Rules, number: int, at: int) -> World:
    """Another row is there: it decides."""
    item = world.environments[number].items[at]
    current = world.row(name_of(item.message))
    assert current is not None
    assert item.wanted is not None
    message, state = item.message, item.wanted.state
    if item.at == "taking" and not rules.take_decides:
        return moved(world, rules, number, at, at="ready", row=plain(item.wanted))
    if item.at in ("taking", "hopping"):
        return decide(world, rules, number, at, current)
    if item.at == "contesting":
        return overtaken(world, rules, number, at, current)
    if state.value in (State.EXECUTED, State.DROPPED):
        if rules.may_end(current, message.nonce, message.fence, message.attempt, state):
            return ends_again(world, number, at, current, state)
        if state is State.EXECUTED:
            return moved(over(world, item, WRITTEN), rules, number, at, at="settled", row=None, wanted=None, result="")
        return overtaken(world, rules, number, at, current)
    if isinstance(rules.attempt(attempt_of(item), current), Attempt | Take):
        return record(world, rules, number, at, current, "retry", unwritten=item.result)
    return overtaken(over(world, item, UNCOUNTED), rules, number, at, current)


def _not_written(world: World, rules: Rules, number: int, at: int) -> World:
    """As far as it knows. What was made is carried; all else is tried again by whoever receives it next."""
    item = world.environments[number].items[at]
    if item.result and rules.carries:
        return moved(world, rules, number, at, at="carrying")
    return left(world, rules, number, at)
