"""What may happen: calls come, a turn does its jobs and commits or not, attempts go on, and the process dies."""

from collections.abc import Callable, Iterator
from typing import Final

from tests.model.state import evolve
from tests.model.turns.rules import Rules
from tests.model.turns.state import Budget, Disk, World

Moved = tuple[str, World]
Job = Callable[[World, Disk, Rules], World | None]


def first(budget: Budget) -> World:
    """The client has not called yet."""
    return World(budget=budget)


def steps(world: World, rules: Rules) -> Iterator[Moved]:
    """All that may happen next."""
    yield from _client(world)
    yield from _attempt(world, rules)
    if world.is_committed:
        yield "all are told", _delivered(world)
    else:
        yield from _jobs(world, rules)
        yield from _commit(world, rules)
    if world.budget.crashes:
        yield "the process dies", checked(_died(world))


def _client(world: World) -> Iterator[Moved]:
    if world.post == "":
        yield "a POST is sent", evolve(world, post="sent")
    if world.budget.cancels and world.post == "201" and world.cancel == "":
        yield "a cancel is sent", evolve(world, cancel="sent")


# ------------------------------------------------------------ the turn


def _jobs(world: World, rules: Rules) -> Iterator[Moved]:
    """In any order, as many as there are."""
    for name, job in JOBS.items():
        if (after := job(world, world.turn or world.disk, rules)) is not None:
            yield name, after


def _post(world: World, disk: Disk, rules: Rules) -> World | None:
    if world.post != "sent":
        return None
    is_known = rules.is_keyed and disk.made > 0
    after = disk if is_known else evolve(disk, records=1, made=min(disk.made + 1, 2))
    return _answered(evolve(world, turn=after, post="in the turn"), "201", rules)


def _cancel(world: World, disk: Disk, rules: Rules) -> World | None:
    if world.cancel != "sent":
        return None
    inside = evolve(world, turn=disk, cancel="in the turn")
    if disk.row in ("", "cancelled"):
        return _answered(evolve(inside, turn=evolve(disk, row="cancelled", records=0)), "200", rules)
    return _answered(inside, "409", rules)


def _answered(world: World, answer: str, rules: Rules) -> World:
    return evolve(world, held=world.held | {answer}) if rules.answers_last else _heard(world, answer)


def _claim(world: World, disk: Disk, rules: Rules) -> World | None:
    """Its record goes, it is claimed and handed over."""
    if not disk.records or disk.row:
        return None
    claimed = evolve(disk, records=0, row="claimed", message=rules.at_once)
    return evolve(world, turn=claimed, to_hand_over=not rules.at_once)


def _hand_over(world: World, disk: Disk, rules: Rules) -> World | None:
    """Where it is a transaction of its own."""
    if not world.to_hand_over or world.turn is not None or disk.row != "claimed":
        return None
    return evolve(world, turn=evolve(disk, message=True), to_hand_over=False)


def _take_up(world: World, disk: Disk, rules: Rules) -> World | None:
    """Nothing is written: the process remembers it."""
    seen = world.disk if rules.takes_what_is_there else disk
    if not seen.message or seen.taken or world.attempt or (rules.waits and not world.can_write):
        return None
    inside = evolve(world, attempt="taken up")
    if rules.begins_anew and rules.deletes_last:
        return inside
    return evolve(inside, turn=evolve(disk, taken=not rules.begins_anew, message=rules.deletes_last))


def _outcome(world: World, disk: Disk, rules: Rules) -> World | None:
    if world.attempt != "done":
        return None
    inside = evolve(world, turn=evolve(disk, row="executed", message=False))
    if not rules.remembers_last:
        return evolve(inside, attempt="")
    return evolve(inside, held=world.held | {"the outcome"}, attempt="in the turn")


JOBS: Final[dict[str, Job]] = {
    "the cancel": _cancel,
    "the claim": _claim,
    "the hand-over": _hand_over,
    "the message is taken up": _take_up,
    "the outcome": _outcome,
    "the POST": _post,
}


def _commit(world: World, rules: Rules) -> Iterator[Moved]:
    if world.turn is None:
        return
    yield "the commit", evolve(world, disk=world.turn, is_committed=True)
    if world.budget.fails:
        spent = evolve(world, budget=evolve(world.budget, fails=world.budget.fails - 1))
        yield "the commit fails", checked(_undone(spent, rules))


def _delivered(world: World) -> World:
    after = evolve(world, turn=None, is_committed=False, held=frozenset(), can_write=True)
    for answer in sorted(world.held):
        after = _heard(after, answer)
    return checked(after)


def _heard(world: World, what: str) -> World:
    match what:
        case "201":
            return evolve(world, post=what)
        case "200" | "409":
            return evolve(world, cancel=what)
    return evolve(world, attempt="")


def _undone(world: World, rules: Rules) -> World:
    """Nothing of it ever was. Who waits is told that nobody knows, and calls again."""
    lost = world.attempt == "in the turn"
    return evolve(
        _unanswered(world),
        turn=None,
        held=frozenset(),
        can_write=False,
        attempt=("done" if rules.outcome_stays else "lost") if lost else world.attempt,
    )


def _unanswered(world: World) -> World:
    return evolve(
        world,
        post="sent" if world.post == "in the turn" else world.post,
        cancel="sent" if world.cancel == "in the turn" else world.cancel,
    )


# ------------------------------------------------------------ attempts, beside the turn


def _attempt(world: World, rules: Rules) -> Iterator[Moved]:
    if world.attempt == "taken up" and (world.can_write or not rules.waits):
        yield "the attempt begins", checked(_begun(world))
    if world.attempt == "running":
        yield "the target answers", evolve(world, attempt="done")


def _begun(world: World) -> World:
    after = evolve(world, attempt="running", reached=min(world.reached + 1, 4))
    if world.disk.row != "claimed":
        return evolve(after, broken="an attempt of what is not claimed on the disk")
    if not world.can_write:
        return evolve(after, broken="an attempt begins while nothing can be written")
    if after.reached > 1 + world.cut:
        return evolve(after, broken="an attempt is made twice, and no crash has cut it")
    return after


# ------------------------------------------------------------ the process, and what must hold


def _died(world: World) -> World:
    """What was not committed never was, and of what the process remembered nothing is left."""
    is_cut = world.attempt in ("running", "done", "in the turn") and world.disk.row != "executed"
    return evolve(
        _unanswered(world),
        budget=evolve(world.budget, crashes=world.budget.crashes - 1),
        turn=None,
        is_committed=False,
        held=frozenset(),
        to_hand_over=False,
        attempt="",
        can_write=True,
        cut=world.cut + is_cut,
    )


def checked(world: World) -> World:
    """What was answered is on the disk, and the call has made one schedule."""
    if world.broken or world.is_committed:
        return world
    if world.post == "201" and not world.disk.made:
        return evolve(world, broken="a schedule that was accepted is lost")
    if world.disk.made > 1:
        return evolve(world, broken="a call that was repeated makes two schedules")
    if world.cancel == "200" and world.disk.row != "cancelled":
        return evolve(world, broken="a cancel that was answered 200 is lost")
    return world


def is_over(world: World) -> bool:
    """All has come to its end."""
    is_answered = world.post == "201" and world.cancel in ("", "200", "409")
    return is_answered and world.turn is None and world.disk.row in ("executed", "cancelled") and not world.attempt
