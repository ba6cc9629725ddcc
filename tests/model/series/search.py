"""Every state of one series, breadth first."""

from collections.abc import Iterator

from delayer.series.rules.series import CursorChange
from tests.model.search import Found, explore
from tests.model.series.properties import broken, broken_at_last
from tests.model.series.rules import REAL, Rules
from tests.model.series.state import Budget, Run, World, first
from tests.model.series.steps import batches, clients, firing, owners, stepper
from tests.model.state import evolve


def successors(world: World, rules: Rules) -> Iterator[tuple[str, World]]:
    """All that may happen next."""
    for label, after in _moves(world, rules):
        yield label, _without_the_hopeless(after, rules)


def _without_the_hopeless(world: World, rules: Rules) -> World:
    """A function whose transaction cannot be written any more does nothing: it need not be followed.

    The revision of the cursor only rises, so a condition that fails once fails for ever.
    """
    left = {run for run in world.runs if not _is_hopeless(world, run, rules)}
    return evolve(world, runs=frozenset(left)) if len(left) < len(world.runs) else world


def _is_hopeless(world: World, run: Run, rules: Rules) -> bool:
    if run.cursor is None or run.at:
        return False
    match run.kind:
        case "own DELETE":  # of another than the current one it writes the ledger alone
            if not rules.occurrence_delete(run.cursor, run.id):
                return False
        case "redrive":
            if not rules.redrive_asks:
                return False
        case "stepper" | "PATCH" | "run-now" | "backfill" | "own PATCH" | "own move":
            pass
        case _:
            return False
    return not rules.may_write(CursorChange(cursor=run.cursor, over=run.cursor), world.cursor)


def _moves(world: World, rules: Rules) -> Iterator[tuple[str, World]]:
    yield from firing.steps(world, rules)
    yield from stepper.steps(world, rules)
    yield from batches.steps(world, rules)
    yield from clients.steps(world, rules)
    yield from owners.steps(world, rules)


def search(budget: Budget, rules: Rules = REAL, limit: int = 10**9) -> Found[World]:
    """Visits every state, from the first occurrence on. Ends at the first that is wrong, or after `limit` states."""
    return explore(first(budget), lambda world: successors(world, rules), broken, broken_at_last, limit)
