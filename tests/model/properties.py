"""What must hold in every state, and in the last ones."""

from typing import Final

from delayer.ledger.model import State
from tests.model.state import NEW, OLD, World, name_of

STORED: Final = (State.DEAD_LETTERED, State.FAILED)


def broken(world: World) -> str:
    """What is wrong; empty if nothing is."""
    return world.broken or _lost(world) or _twice(world)


def broken_at_last(world: World) -> str:
    """What is wrong when nothing can happen any more."""
    if world.table or world.removed or world.copies or world.handed:
        return "something waits for ever"
    for name in _there(world):
        row = world.row(name)
        if row is not None and not row.ended:
            return f"{name} never ends: it is {row.state}"
    return ""


def _there(world: World) -> list[str]:
    return [OLD, NEW] if world.replaced else [OLD]


def _lost(world: World) -> str:
    for name in _there(world):
        row = world.row(name)
        if row is not None and row.state in STORED and name not in _bodies(world) and not _comes_again(world, name):
            return f"{name} is {row.state}, and its body is not stored"
        if row is None and name in world.over:
            continue  # its row has expired: it ended long ago
        if not (row and row.ended) and name not in _copies(world):
            return f"no copy of {name} is left"
    return ""


def _copies(world: World) -> set[str]:
    queued = {name_of(message) for message in (*world.copies, *world.handed)}
    return {*world.table, *world.removed, *queued, *_bodies(world)}


def _bodies(world: World) -> set[str]:
    return {name for name, _ in world.letters}


def _comes_again(world: World, name: str) -> bool:
    """Whoever marked it stores its body once more."""
    return any(name_of(run.message) == name for run in world.giving_up)


def _twice(world: World) -> str:
    """That each attempt has a reason is checked where it is made."""
    for name in _there(world):
        if sum(handed == name for handed, _ in world.hand_overs) > 1 + world.was_redriven:
            return f"two copies of {name} are handed over"
    return ""
