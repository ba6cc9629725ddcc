"""What an executor does, one effect at a time; in the order of use_cases/execute.py."""

from collections.abc import Iterator

from attrs import evolve

from delayer.core.executing import Attempt, Hold, Orphan, SendNext, Wait
from delayer.core.ledger import LedgerRow, ended, first_end, may_need_body, retried
from delayer.core.lifecycle import State
from delayer.core.wire import next_attempt
from tests.model.rules import Rules
from tests.model.state import DUE, NAME_OF, Executor, World, in_order

Step = tuple[str, World]


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """Whatever may happen next to a message of the executor's queue."""
    for message in in_order(world.open):
        run = Executor(message=message, at="received", began=world.time)
        yield (
            f"an executor receives {message.delivery}",
            evolve(world, open=world.open - {message}, executors=world.executors | {run}),
        )
    for run in in_order(world.executors):
        yield from _next(world, rules, run)
        if world.budget.crashes:
            dead = evolve(world.spend("crashes"), executors=world.executors - {run}, open=world.open | {run.message})
            yield f"the executor of {run.message.delivery} dies, {run.at}", evolve(dead, excused=world.excused + 1)


def _next(world: World, rules: Rules, run: Executor) -> Iterator[Step]:
    delivery, name = run.message.delivery, NAME_OF[run.message.id]
    match run.at:
        case "received":
            if not isinstance(rules.wait(run.message, world.time), Hold):
                yield f"the executor reads the ledger for {delivery}", _decide(world, rules, run, name)
        case "attempting":
            yield f"the target is reached by {delivery}", _attempt(world, run, name)
        case "answered":
            yield from _answers(world, run, name)
        case "ending":
            yield from _write(world, rules, run, name)
        case "sending":
            assert run.following is not None
            sent = evolve(world, handed=world.handed | {run.following}, open=world.open | {run.following})
            yield f"the executor sends {run.following.delivery}", _move(sent, run, at="settling")
        case "settling":
            yield f"{delivery} is deleted", _settle(world, run)


def _answers(world: World, run: Executor, name: str) -> Iterator[Step]:
    """What the target may say."""
    delivery = run.message.delivery
    yield f"the target takes {delivery}", _end(world, run, State.EXECUTED)
    if world.budget.refusals:
        refused = evolve(world.spend("refusals"), failed=world.failed + 1)
        yield f"the target fails {delivery}", _retry(refused, run)
        yield (
            f"the target refuses {delivery}",
            _end(evolve(refused, kept=world.kept | {(name, f"failed {delivery}")}), run, State.FAILED),
        )


def _decide(world: World, rules: Rules, run: Executor, name: str) -> World:
    row = world.row(name)
    match rules.attempt(run.message, row):
        case Attempt():
            return _check(_move(world, run, at="attempting", row=row), run, row)
        case SendNext(following, attempt):
            return _move(world, run, at="sending", following=next_attempt(run.message, following, attempt))
        case Wait():
            return _leave(world, run)
        case Orphan():
            row = first_end(run.message.id, run.message.owner, State.SET_ASIDE, world.time, "")
            return evolve(_settle(world, run), kept=world.kept | {(name, run.message.delivery)}).with_row(name, row)
    return _move(world, run, at="settling")


def _check(world: World, run: Executor, row: LedgerRow | None) -> World:
    """What it read must let it attempt."""
    if row is None or row.ended:
        return evolve(world, broken="an attempt is begun though the ledger says that it has ended")
    if row.delivery != run.message.delivery:
        return evolve(world, broken="an attempt is begun though the ledger says that it was overtaken")
    return world


def _attempt(world: World, run: Executor, name: str) -> World:
    after = evolve(
        _move(world, run, at="answered"), attempts=tuple(sorted((*world.attempts, (name, run.message.delivery))))
    )
    return evolve(after, broken="the target is reached early") if world.time < DUE else after


def _end(world: World, run: Executor, state: State) -> World:
    assert run.row is not None
    return _move(world, run, at="ending", wanted=ended(run.row, state, world.time))


def _retry(world: World, run: Executor) -> World:
    assert run.row is not None
    following = f"d{run.row.revision + 1}"
    row = retried(run.row, following, world.time)
    return _move(world, run, at="ending", wanted=row, following=next_attempt(run.message, following, row.attempt))


def _write(world: World, rules: Rules, run: Executor, name: str) -> Iterator[Step]:
    """One compare-and-set; if another row stands than was read, the decision is made anew."""
    assert run.row is not None
    assert run.wanted is not None
    standing, wanted, delivery = world.row(name), run.wanted, run.message.delivery
    if standing is None:
        yield f"the row of {delivery} has expired", _settle(world, run)
    elif standing.revision == run.row.revision:
        after = _move(world, run, at="sending" if run.following else "settling").with_row(name, wanted)
        yield f"the ledger: {wanted.state} by {delivery}", after
    elif run.following is None and rules.may_end(standing, run.message, wanted.state):
        again = ended(standing, wanted.state, world.time)
        yield f"the executor of {delivery} finds another row", _move(world, run, row=standing, wanted=again)
    else:
        yield f"{delivery} was overtaken", _decide_again(world, rules, run, name)


def _decide_again(world: World, rules: Rules, run: Executor, name: str) -> World:
    standing = world.row(name)
    if run.wanted and run.wanted.state is State.FAILED and standing and not may_need_body(standing):
        world = evolve(world, kept=world.kept - {(name, f"failed {run.message.delivery}")})
    decision = rules.attempt(run.message, standing)
    if isinstance(decision, SendNext):
        following = next_attempt(run.message, decision.delivery, decision.attempt)
        return _move(world, run, at="sending", following=following)
    return _leave(world, run) if isinstance(decision, Wait) else _move(world, run, at="settling")


def _leave(world: World, run: Executor) -> World:
    """It is not deleted, and comes back."""
    return evolve(world, executors=world.executors - {run}, open=world.open | {run.message})


def _move(world: World, run: Executor, **changes: object) -> World:
    moved = evolve(run, **changes)  # type: ignore[arg-type] # its own fields
    return evolve(world, executors=world.executors - {run} | {moved})


def _settle(world: World, run: Executor) -> World:
    return evolve(
        world,
        executors=world.executors - {run},
        handed=world.handed - {run.message},
        open=world.open - {run.message},
    )
