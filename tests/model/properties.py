"""What must hold in every state, and in the last ones; and what may happen all the same."""

from collections.abc import Callable, Mapping
from typing import Final

from delayer.core.lifecycle import State
from tests.model.state import NAME_OF, NEW, OLD, World

KEPT: Final = (State.SET_ASIDE, State.FAILED)


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
        if row is not None and row.state in KEPT and name not in _bodies(world) and not _comes_again(world, name):
            return f"{name} is {row.state}, and its body is not kept"
        if row is None and name in world.over:
            continue  # its row has expired: it ended long ago
        if not (row and row.ended) and name not in _copies(world):
            return f"no copy of {name} is left"
    return ""


def _copies(world: World) -> set[str]:
    queued = {copy.name for copy in world.copies | world.dead}
    handed = {NAME_OF[message.id] for message in world.handed}
    return {*world.table, *world.removed, *queued, *handed, *_bodies(world)}


def _bodies(world: World) -> set[str]:
    return {name for name, _ in world.kept}


def _comes_again(world: World, name: str) -> bool:
    """Whoever marked it keeps its body once more, or its message comes again."""
    return any(copy.name == name for copy in world.dead)


def _untrue(world: World) -> str:
    if world.withdrawn is None:
        return ""
    hand_overs, attempts = world.touched()
    if hand_overs > world.withdrawn[0]:
        return "old is handed over after it was cancelled or replaced"
    if attempts > world.withdrawn[1] and not world.put_back:
        return "old reaches the target after it was cancelled or replaced"
    return ""


def _twice(world: World) -> str:
    for name in _there(world):
        nonces = {nonce for handed, nonce in world.hand_overs if handed == name}
        if len(nonces) > 1 + world.put_back:
            return f"two copies of {name} are handed over"
        attempts = sum(attempted == name for attempted, _ in world.attempts)
        if attempts > 1 + world.failed + world.excused:
            return f"{name} reaches the target {attempts} times without a reason"
    return ""


def _repeated_after_crash(world: World) -> bool:
    deliveries = [delivery for _, delivery in world.attempts]
    return len(set(deliveries)) < len(deliveries) and world.excused == 1 and world.budget.crashes == 0


def _overlapping(world: World) -> bool:
    running = [run.message.delivery for run in world.executors if run.at == "answered"]
    return len(set(running)) < len(running)


def _overtaken(world: World) -> bool:
    running = {NAME_OF[run.message.id]: run.message.delivery for run in world.executors if run.at == "answered"}
    overtaken = any((row := world.row(name)) and row.delivery != delivery for name, delivery in running.items())
    return overtaken and len({delivery for _, delivery in world.attempts}) > 1


def _after_put_back(world: World) -> bool:
    return world.withdrawn is not None and world.touched()[1] > world.withdrawn[1]


REMAINING: Final[Mapping[str, Callable[[World], bool]]] = {
    "repeated after a crash": _repeated_after_crash,
    "a duplicate overlaps a running attempt": _overlapping,
    "an attempt that is overtaken while it runs": _overtaken,
    "an attempt of the life before a put-back": _after_put_back,
}
