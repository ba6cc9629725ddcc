"""Visits every state of one connection, within the bound."""

from typing import Final

from tests.model.connections.rules import REAL, Rules
from tests.model.connections.state import Budget, World
from tests.model.connections.steps import first, steps
from tests.model.search import Found, explore

WHOLE: Final = {
    "two PUTs, one dies": Budget(puts=2, crashes=1),
    "two PUTs, an answer is lost": Budget(puts=2, lost=1, reads=1),
    "three PUTs": Budget(puts=3),
    "PUT, DELETE, an executor": Budget(puts=2, deletes=1, reads=1, crashes=1),
    "PUT, force, an executor": Budget(puts=2, forced=1, reads=1, crashes=1),
    "DELETE and POST": Budget(puts=1, deletes=1, posts=2, crashes=1),
    "DELETE, POST, PATCH": Budget(puts=1, deletes=1, posts=1, patches=1, lost=1),
    "two DELETEs and POST": Budget(puts=1, deletes=2, posts=1),
    "DELETE, PUT, POST": Budget(puts=2, deletes=1, posts=1),
    "by force, too": Budget(puts=1, deletes=1, forced=1, posts=1, lost=1),
}


def broken(world: World) -> str:
    """What is wrong; empty if nothing is."""
    if world.broken:
        return world.broken
    if world.row and world.row.secret not in world.secrets:
        return "the row names a secret that is not there"
    if world.row is None and world.live and not world.forced:
        return "a live schedule names a connection that was deleted"
    return ""


def broken_at_last(world: World) -> str:
    """What is wrong when nothing can happen any more: no secret is left over."""
    named = {world.row.secret} if world.row else set()
    if world.secrets - named:
        return "a secret is left over for ever"
    return "a note is left over" if world.notes else ""


def search(budget: Budget, rules: Rules = REAL, limit: int = 10**9) -> Found[World]:
    """Ends at the first state that is wrong, or after `limit` states."""
    return explore(first(budget), lambda world: steps(world, rules), broken, broken_at_last, limit)
