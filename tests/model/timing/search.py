"""Every state of one schedule without a time, breadth first; what is possible at once, and what must hold."""

from typing import Final

from delayer.ledger.model import ENDS, State
from tests.model.search import Found, explore
from tests.model.timing.rules import REAL, Rules
from tests.model.timing.state import ASKED, Budget, World
from tests.model.timing.steps import first, steps

WHOLE: Final = {
    "messages twice, answers lost": Budget(deciders=3, twins=2, late=1),
    "with a name": Budget(has_name=True, twins=1, deletes=1, late=1),
    "events lost, crashes": Budget(lost=2, crashes=2, late=1, twins=1),
    "deleted twice, crash, late put": Budget(deletes=2, crashes=1, late=1, twins=1),
    "changed twice, late put": Budget(patches=2, late=1, twins=1),
    "changed and deleted": Budget(patches=1, deletes=1, twins=1, late=1, crashes=1),
    "refused, late put": Budget(refusals=2, late=2, lost=1, deletes=1),
    "looked up, decided, deleted": Budget(gets=2, deletes=1, late=1),
    "all of it": Budget(patches=1, deletes=1, refusals=1, lost=1, gets=1, crashes=1),
}


def broken(world: World) -> str:
    """What is wrong; empty if nothing is."""
    if world.broken:
        return world.broken
    alive = [one for one in world.put if (row := world.row(one)) is None or row.state not in ENDS]
    return "two schedules wait for one" if len(alive) > 1 else ""


def broken_at_last(world: World) -> str:
    """What is wrong when nothing can happen any more: each is handed over, or has an end that is not."""
    row = world.row(ASKED)
    if row is None or row.state is State.UNDECIDED:
        return "nothing became of it"
    if row.decided_as and row.decided_as not in world.put:
        return "its row points to what was never put"
    return "" if not world.waits else "its record is left over"


def search(budget: Budget, rules: Rules = REAL, limit: int = 10**9) -> Found[World]:
    """Visits every state. Ends at the first that is wrong, or after `limit` states."""
    return explore(first(budget), lambda world: steps(world, rules), broken, broken_at_last, limit)
