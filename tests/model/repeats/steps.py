"""What may happen: the client looks up, sends and hears; requests arrive, late too; others use the same name."""

from collections.abc import Iterator
from typing import Any

from attrs import evolve

from delayer_client.calls.call import Repeat
from tests.model.repeats.rules import Rules
from tests.model.repeats.state import BY_NAME, LIVE, OVER, REPLACED, Budget, World

Moved = tuple[str, World]


def first(budget: Budget) -> World:
    """There is one schedule, which has the name."""
    return World(budget=budget)


def steps(world: World, rules: Rules) -> Iterator[Moved]:
    """All that may happen next."""
    yield from _client(world, rules)
    for number, about in enumerate(world.wire):
        left = world.wire[:number] + world.wire[number + 1 :]
        is_heard = world.at == "waiting" and number == len(world.wire) - 1
        yield _arrives(evolve(world, wire=left), about, is_heard=is_heard)
    yield from _others(world)


def _client(world: World, rules: Rules) -> Iterator[Moved]:
    looks_up = world.budget.route == "cancel"
    match world.at:
        case "begun" | "replaced" if looks_up:
            yield f"the client looks up {world.name}", evolve(world, known=world.name, at="sending")
        case "begun":
            known = BY_NAME if world.budget.route == "by name" else world.name
            yield "the client begins", evolve(world, known=known, at="sending")
        case "sending" if world.budget.tries:
            after = _spent(world, "tries")
            yield "the client sends", evolve(after, wire=(*world.wire, world.known), at="waiting")
        case "unclear" if _repeats(world, rules):
            yield "the client sends it again", evolve(world, at="sending" if rules.keeps else "begun")
        case "waiting":
            yield from _waiting(world)


def _waiting(world: World) -> Iterator[Moved]:
    if not world.answer[0]:
        if world.budget.late:
            yield "the client waits no longer", evolve(_spent(world, "late"), at="unclear")
        return
    if world.answer[1] == REPLACED and world.budget.route == "cancel":
        yield "the client hears of another one", evolve(world, answer=("", ""), at="replaced")
    else:
        yield "the client hears", _heard(world)
    if world.budget.lost:
        yield "the answer is lost", evolve(_spent(world, "lost"), answer=("", ""), at="unclear")


def _repeats(world: World, rules: Rules) -> bool:
    how = {"cancel": rules.by_id, "by name": rules.by_name, "pause": rules.turned_back}[world.budget.route]
    return how is not Repeat.NEVER


def _arrives(world: World, about: str, *, is_heard: bool) -> Moved:
    """The ledger alone answers. A request for a name is about the one that has it now."""
    schedule = about or world.name
    state = world.state(schedule)
    after = world
    if state == LIVE:
        after = evolve(_with(world, schedule, OVER), done=(*world.done, schedule))
    if len(after.done) > 1:
        after = evolve(after, broken="one call ends what somebody has made, or turned back, since")
    answer = (schedule, REPLACED if state == REPLACED else OVER)
    return f"a request arrives at {schedule}", evolve(after, answer=answer) if is_heard else after


def _heard(world: World) -> World:
    """A cancel has no way back: what the answer said is so still. A pause may have been ended since."""
    schedule, said = world.answer
    after = evolve(world, answer=("", ""), at="answered")
    is_true = said == world.state(schedule) or world.budget.route == "pause"
    return after if is_true else evolve(after, broken="the client is told what is not so")


def _others(world: World) -> Iterator[Moved]:
    new = chr(ord(world.name) + 1)
    if world.budget.namesakes and world.state(world.name) == OVER and world.budget.route != "pause":
        yield f"somebody makes {new}", evolve(_with(_spent(world, "namesakes"), new, LIVE), name=new)
    if world.budget.replaced and world.state(world.name) == LIVE and world.budget.route != "pause":
        after = _with(_with(_spent(world, "replaced"), world.name, REPLACED), new, LIVE)
        yield f"somebody puts {new} in the place of {world.name}", evolve(after, name=new)
    if world.budget.turned_back and world.state(world.name) == OVER and world.budget.route == "pause":
        yield "somebody turns it back", _with(_spent(world, "turned_back"), world.name, LIVE)


def _with(world: World, schedule: str, state: str) -> World:
    return evolve(world, states=tuple(sorted((dict(world.states) | {schedule: state}).items())))


def _spent(world: World, what: str) -> World:
    spent: dict[str, Any] = {what: getattr(world.budget, what) - 1}
    return evolve(world, budget=evolve(world.budget, **spent))
