"""What must hold in every state, and in the last ones; and what may happen all the same."""

from collections.abc import Callable, Mapping
from typing import Final

from delayer.core.ledger.lifecycle import State
from tests.model.state import NAME_OF, NEW, OLD, World

STORED: Final = (State.DEAD_LETTERED, State.FAILED)


def broken(world: World) -> str:
    """What is wrong; empty if nothing is."""
    return world.broken or _lost(world) or _untrue(world) or _twice(world)


def broken_at_last(world: World) -> str:
    """What is wrong when nothing can happen any more."""
    if world.table or world.removed or world.copies or world.dead or world.handed:
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
    queued = {copy.name for copy in world.copies | world.dead}
    handed = {NAME_OF[message.schedule.id] for message in world.handed}
    return {*world.table, *world.removed, *queued, *handed, *_bodies(world)}


def _bodies(world: World) -> set[str]:
    return {name for name, _ in world.letters}


def _comes_again(world: World, name: str) -> bool:
    """Whoever marked it stores its body once more, or its message comes again."""
    return any(copy.name == name for copy in world.dead)


def _untrue(world: World) -> str:
    if world.revoked is None:
        return ""
    hand_overs, attempts = world.touched()
    if hand_overs > world.revoked[0]:
        return "old is handed over after it was cancelled or replaced"
    if attempts > world.revoked[1]:
        return "old reaches the target after it was cancelled or replaced"
    return ""


def _twice(world: World) -> str:
    for name in _there(world):
        nonces = {nonce for handed, nonce in world.hand_overs if handed == name}
        if len(nonces) > 1 + world.was_redriven:
            return f"two copies of {name} are handed over"
        attempts = sum(attempted == name for attempted, _ in world.attempts)
        if attempts > 1 + world.failed + world.excused:
            return f"{name} reaches the target {attempts} times without a reason"
    return ""


def _repeated_after_crash(world: World) -> bool:
    fences = [fence for _, fence in world.attempts]
    return len(set(fences)) < len(fences) and world.excused == 1 and world.budget.crashes == 0


def _overlapping(world: World) -> bool:
    running = [run.message.fence for run in world.executors if run.at == "answered"]
    return len(set(running)) < len(running)


def _overtaken(world: World) -> bool:
    running = {NAME_OF[run.message.schedule.id]: run.message.fence for run in world.executors if run.at == "answered"}
    overtaken = any((row := world.row(name)) and row.fence != fence for name, fence in running.items())
    return overtaken and len({fence for _, fence in world.attempts}) > 1


REMAINING: Final[Mapping[str, Callable[[World], bool]]] = {
    "repeated after a crash": _repeated_after_crash,
    "a duplicate overlaps a running attempt": _overlapping,
    "an attempt that is overtaken while it runs": _overtaken,
}
