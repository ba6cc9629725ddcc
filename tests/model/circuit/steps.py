"""What environments, the target, an operator and time do; in the order of flow/use_cases (gate.py, breaker.py)."""

from collections.abc import Callable, Iterator

from attrs import frozen

from delayer.engines.store.model import entry_key
from delayer.flow.repository import LIST, StoredBlocks, to_item
from delayer.flow.rules.block import Block, opened, opened_again, probing
from delayer.flow.rules.comeback import coming_back, faster, slower
from delayer.flow.rules.gate import Probe, decide_gate
from tests.model.circuit.state import ENOUGH, NONCES, PARTY, STEP, Environment, World, later, plain, renumbered
from tests.model.dict_store import DictStore
from tests.model.state import evolve

Step = tuple[str, World]
TABLE = "registry"
FROM_BEFORE = "opened once more by attempts that began before it was closed"


@frozen(kw_only=True)
class Rules:
    """What the functions go by. The row is written by the repository that they have, on a store in memory."""

    gate: Callable[..., object] = decide_gate
    blocks: type[StoredBlocks] = StoredBlocks
    waits_if_lost: bool = True  # whoever does not know whether it probes does not
    success_closes: bool = True  # or rather begins the comeback that does
    comes_back: bool = True  # at a pace; else the row is gone after the probe
    faster: Callable[[Block, int], Block | None] = faster


REAL = Rules()


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """All that may happen next."""
    for label, after in _all(world, rules):
        yield label, renumbered(after)


def _all(world: World, rules: Rules) -> Iterator[Step]:
    for one in world.environments:
        if one.view != world.row:
            yield f"{one.name} reads the row", world.having(one, view=world.row)
        if one.nonce:
            yield from _ends(world, rules, one)
        else:
            for nonce in NONCES:
                if not any(other.nonce == nonce for other in world.environments):
                    yield from _asks(world, rules, one, nonce)
    if world.budget.commands and world.row:
        yield "an operator closes the circuit", evolve(world.spend("commands"), row=None)
    if _is_timed(world):
        row = later(world.row)
        waiting = tuple(evolve(one, view=row, left=max(one.left - STEP, 0)) for one in world.environments)
        yield "time passes, and all that was read is too old", evolve(world, row=row, environments=waiting)


def _is_timed(world: World) -> bool:
    row = world.row
    return bool(row and (row.until or row.probe_until)) or any(one.left for one in world.environments)


def _asks(world: World, rules: Rules, one: Environment, nonce: str) -> Iterator[Step]:
    """Before an attempt."""
    decision = rules.gate([one.view] if one.view else [], PARTY, nonce, 0, 0)
    if decision is None:
        yield f"{one.name} attempts {nonce}", _begin(world, one, nonce)
    elif isinstance(decision, Probe):
        mine = plain(probing(decision.block, nonce, 0))
        written, is_written = _write(world, rules, mine)
        if is_written:
            known = written.having(one, view=mine)
            me = next(two for two in known.environments if two.name == one.name)
            yield f"{one.name} probes with {nonce}", _begin(known, me, nonce)
        else:
            yield f"{one.name} is not the first to probe", world.having(one, view=world.row)
        if world.budget.lost:
            for after, what in ((written, "and it was written"), (world, "and it was not")):
                lost = after.spend("lost")
                begun = lost if rules.waits_if_lost else _begin(lost, one, nonce)
                yield f"{one.name} is not told whether it probes with {nonce}, {what}", begun


def _begin(world: World, one: Environment, nonce: str) -> World:
    """Whoever goes by what it has read before may be wrong for as long as its view is old; the others may not."""
    row = world.row
    left = row.probe_until if row and row.probe == nonce else 0
    after = world.having(one, nonce=nonce, left=left, circuit=row.since if row else 0, opened=world.circuits)
    probes = {two.nonce for two in after.environments if two.left and row and two.circuit == row.since}
    if len(probes) > 1:
        return evolve(after, broken="two schedules probe at the same time")
    if row is not None and not row.is_comeback and not left and one.view == row:
        return evolve(after, broken="an attempt is made at an open circuit, and is not its probe")
    return after


def _ends(world: World, rules: Rules, one: Environment) -> Iterator[Step]:
    """The target answers, or does not; or the function dies."""
    if world.budget.failures:
        failed = evolve(world.spend("failures"), has_failed=True)
        yield f"{one.nonce} is not answered", _over(failed, one)
        for label, after in _made(failed, rules, one, is_outage=True):
            yield f"{one.nonce} is not answered{label}", after
    for label, after in _made(world, rules, one, is_outage=False):
        yield f"{one.nonce} is answered{label}", after
    if world.budget.crashes:
        anew = Environment(name=one.name, view=world.row)
        yield f"{one.name} dies", world.spend("crashes").having(anew)


def _over(world: World, one: Environment, **values: object) -> World:
    return world.having(one, nonce="", left=0, circuit=0, opened=0, **values)


def _made(world: World, rules: Rules, one: Environment, *, is_outage: bool) -> Iterator[Step]:
    """As the breaker does it."""
    circuit = one.view
    if circuit and circuit.probe == one.nonce:
        if is_outage or rules.success_closes:
            after = opened_again(circuit, 0, "") if is_outage else coming_back(circuit, 0)
            yield from _answered(world, rules, one, plain(after) if is_outage or rules.comes_back else None)
        else:
            yield "", _over(world, one)
    elif circuit and circuit.is_comeback:
        yield from _paced(world, rules, one, is_outage=is_outage)
    elif circuit:
        yield "", _over(world, one)
    elif is_outage:
        old = one.old + (one.opened < world.circuits)
        if one.failures + 1 < ENOUGH:
            yield "", _over(world, one, failures=one.failures + 1, old=old)
        else:
            yield from _opens(world, rules, one, old)
    else:
        yield "", _over(world, one, failures=0, old=0)


def _paced(world: World, rules: Rules, one: Environment, *, is_outage: bool) -> Iterator[Step]:
    """An attempt of a comeback. What fails among many that are answered changes nothing."""
    assert one.view is not None
    after = slower(one.view, 0, "") if is_outage else rules.faster(one.view, 0)
    if is_outage or after == one.view:
        yield "", _over(world, one)
    if after != one.view:
        yield from _answered(world, rules, one, after and plain(after))


def _opens(world: World, rules: Rules, one: Environment, old: int) -> Iterator[Step]:
    block = evolve(plain(opened(PARTY, 0, "")), since=world.circuits + 1)
    written, is_written = _write(world, rules, block)
    if is_written:
        new = evolve(written, circuits=world.circuits + 1)
        if old and world.is_well:
            new = evolve(new, repeated=new.repeated | {FROM_BEFORE})
        yield ": a circuit opens", _over(new, one, failures=0, old=0, view=block)
    else:
        yield ": another has opened it", _over(world, one, failures=0, old=0)
    if world.budget.lost and is_written:
        new = evolve(written.spend("lost"), circuits=world.circuits + 1)
        yield ": a circuit opens, and nobody is told", _over(new, one, failures=one.failures + 1, old=old)


def _answered(world: World, rules: Rules, one: Environment, again: Block | None) -> Iterator[Step]:
    """The row after a probe, or an attempt of a comeback: opened for longer, at another pace, or gone."""
    assert one.view is not None
    after, is_written = _write(world, rules, again) if again else _remove(world, rules, one.view)
    if is_written:
        yield ": the row says so", _over(after, one, view=again)
    else:
        yield ": the row has changed", _over(world, one)
    if world.budget.lost:
        yield ": the row says so, and nobody is told", _over(after.spend("lost"), one)
        yield ": the row cannot be written", _over(world.spend("lost"), one)


def _blocks(world: World, rules: Rules) -> StoredBlocks:
    """With the row as it is now."""
    store = DictStore()
    if world.row:
        store.hold(TABLE, entry_key(LIST, world.row.key), to_item(world.row))
    return rules.blocks(store=store, table=TABLE)


def only(blocks: StoredBlocks) -> Block | None:
    """Their row, if there is one."""
    return next(iter(blocks.rows(latest=True).blocks), None)


def _write(world: World, rules: Rules, block: Block) -> tuple[World, bool]:
    blocks = _blocks(world, rules)
    is_written = blocks.change(block)
    if not world.has_failed:
        return evolve(world, broken="the row is written, though nothing has failed"), is_written
    if is_written and world.row and world.row.since != block.since:
        return evolve(world, broken="the row of another circuit is overwritten"), is_written
    return evolve(world, row=only(blocks)), is_written


def _remove(world: World, rules: Rules, block: Block) -> tuple[World, bool]:
    blocks = _blocks(world, rules)
    is_gone = blocks.remove(block)
    if is_gone and world.row and world.row.since != block.since:
        return evolve(world, broken="the row of another circuit is removed"), is_gone
    if is_gone and world.row and not world.row.is_comeback:
        return evolve(world, broken="all that has waited comes back at once"), is_gone
    return evolve(world, row=only(blocks)), is_gone
