"""What an executor does, one effect at a time; in the order of use_cases/firing/execute.py."""

from collections.abc import Iterator

from attrs import evolve

from delayer.core.firing.executing import Attempt, Hold, Orphan, SendNext
from delayer.core.ledger.lifecycle import State
from delayer.core.ledger.outcome import ended, ended_unclaimed, retried
from delayer.core.ledger.row import LedgerRow, RetryLater
from delayer.core.recovery.disposition import may_need_body
from delayer.core.schedule.messages import ExecutorMessage
from tests.model.rules import Rules
from tests.model.state import DUE, NAME_OF, Executor, World, in_order

Step = tuple[str, World]


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """Whatever may happen next to a message of the executor's queue."""
    for message in in_order(world.open):
        run = Executor(message=message, at="received", began=world.time)
        yield (
            f"an executor receives {message.fence}",
            evolve(world, open=world.open - {message}, executors=world.executors | {run}),
        )
    for run in in_order(world.executors):
        yield from _next(world, rules, run)
        if world.budget.crashes:
            dead = evolve(world.spend("crashes"), executors=world.executors - {run}, open=world.open | {run.message})
            yield f"the executor of {run.message.fence} dies, {run.at}", evolve(dead, excused=world.excused + 1)


def _next(world: World, rules: Rules, run: Executor) -> Iterator[Step]:
    fence, name = run.message.fence, NAME_OF[run.message.schedule.id]
    match run.at:
        case "received":
            if not isinstance(rules.wait(run.message, world.time), Hold):
                yield f"the executor reads the ledger for {fence}", _decide(world, rules, run, name)
        case "attempting":
            yield f"the target is reached by {fence}", _attempt(world, run, name)
        case "answered":
            yield from _answers(world, run, name)
        case "ending":
            yield from _write(world, rules, run, name)
        case "sending":
            assert run.following is not None
            sent = evolve(world, handed=world.handed | {run.following}, open=world.open | {run.following})
            yield f"the executor sends {run.following.fence}", _move(sent, run, at="settling")
        case "settling":
            yield f"{fence} is deleted", _settle(world, run)


def _answers(world: World, run: Executor, name: str) -> Iterator[Step]:
    """What the target may say."""
    fence = run.message.fence
    yield f"the target takes {fence}", _end(world, run, State.EXECUTED)
    if world.budget.refusals:
        refused = evolve(world.spend("refusals"), failed=world.failed + 1)
        yield f"the target fails {fence}", _retry(refused, run)
        yield (
            f"the target refuses {fence}",
            _end(evolve(refused, letters=world.letters | {(name, f"failed {fence}")}), run, State.FAILED),
        )


def _decide(world: World, rules: Rules, run: Executor, name: str) -> World:
    row = world.row(name)
    match rules.attempt(run.message, row):
        case Attempt():
            return _check(_move(world, run, at="attempting", row=row), run, row)
        case SendNext(fence=following, attempt=attempt):
            return _move(world, run, at="sending", following=_next_attempt(run.message, following, attempt))
        case RetryLater():
            return _leave(world, run)
        case Orphan():
            row = ended_unclaimed(
                run.message.schedule.id, run.message.schedule.owner, State.DEAD_LETTERED, world.time, ""
            )
            return evolve(_settle(world, run), letters=world.letters | {(name, run.message.fence)}).with_row(name, row)
    return _move(world, run, at="settling")


def _check(world: World, run: Executor, row: LedgerRow | None) -> World:
    """What it read must let it attempt."""
    if row is None or row.ended:
        return evolve(world, broken="an attempt is begun though the ledger says that it has ended")
    if row.fence != run.message.fence:
        return evolve(world, broken="an attempt is begun though the ledger says that it was overtaken")
    return world


def _attempt(world: World, run: Executor, name: str) -> World:
    after = evolve(
        _move(world, run, at="answered"), attempts=tuple(sorted((*world.attempts, (name, run.message.fence))))
    )
    return evolve(after, broken="the target is reached early") if world.time < DUE else after


def _end(world: World, run: Executor, state: State) -> World:
    assert run.row is not None
    return _move(world, run, at="ending", wanted=ended(run.row, state, world.time))


def _retry(world: World, run: Executor) -> World:
    assert run.row is not None
    following = f"d{run.row.revision + 1}"
    row = retried(run.row, following, world.time)
    return _move(world, run, at="ending", wanted=row, following=_next_attempt(run.message, following, row.attempt))


def _write(world: World, rules: Rules, run: Executor, name: str) -> Iterator[Step]:
    """One compare-and-set; if the current row is not the one that was read, it decides again."""
    assert run.row is not None
    assert run.wanted is not None
    current, wanted, fence = world.row(name), run.wanted, run.message.fence
    if current is None:
        yield f"the row of {fence} has expired", _settle(world, run)
    elif current.revision == run.row.revision:
        after = _move(world, run, at="sending" if run.following else "settling").with_row(name, wanted)
        yield f"the ledger: {wanted.state} by {fence}", after
    elif run.following is None and rules.may_end(current, run.message.nonce, run.message.fence, wanted.state):
        again = ended(current, wanted.state, world.time)
        yield f"the executor of {fence} finds another row", _move(world, run, row=current, wanted=again)
    else:
        yield f"{fence} was overtaken", _decide_again(world, rules, run, name)


def _decide_again(world: World, rules: Rules, run: Executor, name: str) -> World:
    current = world.row(name)
    if run.wanted and run.wanted.state is State.FAILED and current and not may_need_body(current):
        world = evolve(world, letters=world.letters - {(name, f"failed {run.message.fence}")})
    decision = rules.attempt(run.message, current)
    if isinstance(decision, SendNext):
        following = _next_attempt(run.message, decision.fence, decision.attempt)
        return _move(world, run, at="sending", following=following)
    return _leave(world, run) if isinstance(decision, RetryLater) else _move(world, run, at="settling")


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


def _next_attempt(message: ExecutorMessage, fence: str, attempt: int) -> ExecutorMessage:
    return evolve(message, fence=fence, attempt=attempt)
