"""Every state of one relaxed schedule, breadth first; and what must hold in each."""

from tests.model.relaxed.rules import REAL, Rules
from tests.model.relaxed.state import Budget, World, first
from tests.model.relaxed.steps import steps
from tests.model.search import Found, explore

CHOICES = {
    "delivered again and again, crashes": Budget(crashes=2, repeats=2),
    "the put comes late, cancelled, the cancel dies": Budget(late_puts=2, cancels=2, unfinished=1, repeats=1),
    "the put comes late, fired, crash": Budget(late_puts=2, crashes=1, repeats=1),
    "cancelled and fired at the same time": Budget(cancels=2, crashes=1, late_puts=1),
    "replaced, the put comes late, cancelled": Budget(replaces=1, late_puts=1, cancels=1, crashes=1),
    "deleted by hand, redriven, cancelled": Budget(by_hand=2, redrives=1, cancels=1, crashes=1),
    "deleted by hand, the put comes late, replaced": Budget(by_hand=1, redrives=1, late_puts=1, replaces=1),
    "the function dies of it": Budget(killed=1, crashes=1, late_puts=1, repeats=1, cancels=1),
    "the TTL takes more than a month": Budget(very_late=True, cancels=1, unfinished=1, late_puts=1, crashes=1),
    "clocks differ": Budget(ahead=True, cancels=1, crashes=1),
}


def broken(world: World) -> str:
    """What is wrong; empty if nothing is."""
    return world.broken


def broken_at_last(world: World) -> str:
    """What is wrong when nothing can happen any more."""
    lost = world.accepted - world.promised - world.over - world.stored - set(world.attempts)
    return f"{', '.join(sorted(lost))} is lost" if lost else ""


def search(budget: Budget, rules: Rules = REAL) -> Found[World]:
    """Visits every state, from the put on. Ends at the first that is wrong."""
    return explore(first(budget), lambda world: steps(world, rules), broken, broken_at_last)
