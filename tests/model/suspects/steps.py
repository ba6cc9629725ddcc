"""What may happen: SQS gives out batches, which a function sees or not; it notes, handles, and dies or ends."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from delayer.recovery.rules import PROOFS
from tests.model.state import evolve
from tests.model.suspects.rules import Rules, proofs_of
from tests.model.suspects.state import KILLER, MOST_RECEIVES, Budget, Message, Note, Run, World

Moved = tuple[str, World]


def first(budget: Budget) -> World:
    """All wait in the queue."""
    names = [KILLER] * budget.killer + [chr(ord("a") + number) for number in range(budget.good)]
    return World(budget=budget, messages=tuple(Message(name=name) for name in names))


def steps(world: World, rules: Rules) -> Iterator[Moved]:
    """All that may happen next."""
    free = [message.name for message in world.messages if message.is_free]
    for size in range(1, len(free) + 1):
        for names in combinations(free, size):
            yield from _given_out(world, names)
    if not world.budget.deaths and any(not note.has_passed for note in world.notes):  # in a bad deploy none ends
        yield "the function ends other messages", _passed(world)
    for run in sorted(world.runs, key=str):
        yield from _step(world, rules, run)
        if world.budget.deaths:
            yield f"the function dies with {_all(run.names)}", _died(world.spend("deaths"), run)


def _all(names: Sequence[str]) -> str:
    return ", ".join(names)


def _given_out(world: World, names: tuple[str, ...]) -> Iterator[Moved]:
    received = _each(world, names, lambda one: evolve(one, receives=min(one.receives + 1, MOST_RECEIVES)))
    if len(world.runs) < world.budget.environments:
        held = _each(received, names, lambda one: evolve(one, is_free=False))
        yield f"the function receives {_all(names)}", held.start(Run(names=names))
    if world.budget.throttled:
        yield f"Lambda throttles {_all(names)}", received.spend("throttled")


def _step(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    match run.at:
        case "looking":
            yield from _look(world, rules, run)
        case "noting":
            yield from _note(world, run)
        case "on" | "alone":
            yield from _handle(world, run)
        case "trying":
            yield from _try(world, rules, run)
        case "ending":
            yield from _end(world, rules, run)


def _note(world: World, run: Run) -> Iterator[Moved]:
    if world.budget.unread:
        yield f"no note of {_all(run.noted)}", _over(world.spend("unread"), run, run.names)
    notes = tuple(Note(name=name) for name in run.noted)
    yield f"a note of {_all(run.noted)}", evolve(world, notes=_sorted(world.notes + notes)).go_on(run, at="on")


def _handle(world: World, run: Run) -> Iterator[Moved]:
    names = _all(run.names)
    if KILLER in run.names:
        yield f"the function dies of {KILLER}", _died(world, run, of=KILLER)
        return
    yield f"{names} handled", world.go_on(run, at="ending")
    if world.budget.failures:
        yield f"{names} cannot be handled", world.spend("failures").go_on(run, at="ending", failed=True)


def _look(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    again = tuple(name for name in run.names if rules.has_come_back(world.message(name).receives))
    if not again:
        yield f"{_all(run.names)} came for the first time", world.go_on(run, at="on")
        return
    if world.budget.unread:
        fresh = tuple(name for name in run.names if name not in again)
        yield "the notes cannot be read", _only(world.spend("unread"), run, fresh, again)
    suspects = [name for name in again if _is_suspect(world, rules, name)]
    if not suspects:
        yield f"nothing is noted of {_all(again)}", world.go_on(run, at="noting", noted=again)
        return
    yield from _in_its_turn(world, rules, run, again, suspects)


def _in_its_turn(
    world: World, rules: Rules, run: Run, again: Sequence[str], suspects: Sequence[str]
) -> Iterator[Moved]:
    """One is tried; or, every other time, those beside them are handled first. Which it is, both are played."""
    beside = tuple(name for name in run.names if name not in suspects)
    if beside and rules.apart:
        noted = tuple(name for name in again if name in beside)
        yield f"{_all(suspects)} wait", _only(world, run, beside, suspects, noted)
    suspect = suspects[0]
    after = world
    if not world.message(suspect).has_died:
        after = evolve(after, broken="a suspect that has killed nobody")
    others = tuple(name for name in run.names if name != suspect) if rules.apart else ()
    names = tuple(name for name in run.names if name not in others)
    after = _each(after, others, lambda one: evolve(one, is_free=True))
    yield f"{suspect} is a suspect", after.go_on(run, names=names, at="trying", noted=(suspect,))


def _only(world: World, run: Run, names: tuple[str, ...], waiting: Sequence[str], noted: tuple[str, ...] = ()) -> World:
    """The run goes on with these, if there are any; the others wait."""
    after = _each(world, waiting, lambda one: evolve(one, is_free=True))
    return after.go_on(run, names=names, at="noting" if noted else "on", noted=noted) if names else after.end(run)


def _is_suspect(world: World, rules: Rules, name: str) -> bool:
    by_count = rules.suspected_after and world.message(name).receives >= rules.suspected_after
    return bool(by_count) or world.note(name) is not None


def _try(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    """A suspect alone, or what is left with it."""
    [suspect] = run.noted
    before = world.note(suspect)
    proofs = proofs_of(rules, before.proofs, before.has_passed) if before else 0
    if proofs >= PROOFS:
        after = world if suspect == KILLER else evolve(world, broken="one is given up that kills nobody")
        yield f"{suspect} is given up", _over(_without_notes(after, (suspect,)), run, ())
        return
    note = Note(name=suspect, proofs=proofs)
    noted = evolve(_without_notes(world, (suspect,)), notes=_sorted((*_without(world.notes, suspect), note)))
    yield f"a run with {suspect} begins", noted.go_on(run, at="alone")


def _end(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    left = run.names if run.failed else ()
    if not run.failed or rules.always_ends:
        ended = _without_notes(world, run.noted)
        yield f"the end of {_all(run.names)}", _over(ended if run.failed else _passed(ended), run, left)
    else:
        yield f"the end of {_all(run.names)} is not noted", _over(world, run, left)


def _over(world: World, run: Run, left: Sequence[str]) -> World:
    """The function answers: what is left comes again, the others are deleted."""
    done = [name for name in run.names if name not in left]
    after = evolve(world, messages=tuple(one for one in world.messages if one.name not in done)).end(run)
    return _each(after, left, lambda one: evolve(one, is_free=True))


def _died(world: World, run: Run, of: str = "") -> World:
    def after_it(one: Message) -> Message:
        harmed = min(one.harmed + 1, MOST_RECEIVES) if of and one.name != of else one.harmed
        return evolve(one, is_free=True, has_died=True, harmed=harmed)

    after = _each(world.end(run), run.names, after_it)
    if any(one.harmed > 2 for one in after.messages):
        after = evolve(after, broken="a killer takes another one along more than twice")
    return after


def _passed(world: World) -> World:
    return evolve(world, notes=tuple(evolve(note, has_passed=True) for note in world.notes))


def _each(world: World, names: Sequence[str], change: Callable[[Message], Message]) -> World:
    return evolve(world, messages=tuple(change(one) if one.name in names else one for one in world.messages))


def _without(notes: tuple[Note, ...], name: str) -> tuple[Note, ...]:
    return tuple(note for note in notes if note.name != name)


def _without_notes(world: World, names: Sequence[str]) -> World:
    return evolve(world, notes=tuple(note for note in world.notes if note.name not in names))


def _sorted(notes: tuple[Note, ...]) -> tuple[Note, ...]:
    return tuple(sorted(notes, key=lambda note: note.name))
