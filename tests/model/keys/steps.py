"""What may happen: calls with and without the key read, write and answer; schedules end; functions die."""

from collections.abc import Iterator

from delayer.ledger.model import State
from tests.model.keys.rules import Rules
from tests.model.keys.state import OLD, Budget, Effect, KeyRow, Run, World
from tests.model.state import evolve

Moved = tuple[str, World]


def first(budget: Budget) -> World:
    """There is one schedule; with the name, unless the calls are to create only."""
    only_new = budget.route == "PUT if none"
    states = () if only_new else ((OLD, State.SCHEDULED),)
    return World(budget=budget, states=states, name="" if only_new else OLD)


def steps(world: World, rules: Rules) -> Iterator[Moved]:
    """All that may happen next."""
    for what, body in (("calls", "a"), ("others", "b"), ("strangers", "")):
        if getattr(world.budget, what):
            run = Run(number=world.begun, body=body)
            after = evolve(world.spend(what), begun=world.begun + 1)
            yield f"{_name(run)} begins", after.start(run)
    for schedule, state in world.states:
        if world.budget.ends and state is State.SCHEDULED:
            for end in (State.CLAIMED, State.CANCELLED):
                yield f"{schedule} is {end}", _with(world.spend("ends"), schedule, end)
    for run in sorted(world.runs, key=str):
        yield from _step(world, rules, run)
        if world.budget.crashes:
            yield f"{_name(run)} dies", world.spend("crashes").end(run)


def _name(run: Run) -> str:
    return f"call {run.number} ({run.body or 'without the key'})"


def _step(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    who = _name(run)
    match run.at:
        case "":
            yield f"{who} looks the key up", _looked(world, rules, run, "reading")
        case "reading":
            holder = OLD if world.budget.route == "PATCH" else world.name
            yield f"{who} reads", world.go_on(run, at="deciding", holder=holder, state=world.state(holder))
        case "deciding" if _refuses(world, run):
            looks_again = run.body and rules.looks_again
            yield f"{who} cannot replace it", world.go_on(run, at="refusing") if looks_again else _refused(world, run)
        case "deciding":
            yield _write(world, rules, run)
        case "refusing":
            yield f"{who} looks the key up again", _looked(world, rules, run, "")
        case "noting" if run.effect:
            after = evolve(world, row=world.row or KeyRow(body=run.body, effect=run.effect))
            yield f"{who} writes the key", after.go_on(run, at="answering")
        case "answering" if run.effect:
            yield f"{who} is answered", _answered(world, run, run.effect)


def _looked(world: World, rules: Rules, run: Run, then: str) -> World:
    """Answered by the row, if there is one; refused if it was the last look."""
    row = world.row if run.body else None
    if row is None:
        return world.go_on(run, at=then) if then else _refused(world, run)
    if row.body != run.body and rules.compares:
        return world.end(run)  # 422: the key is that of another call
    now = Effect(new=row.effect.new, replaces="") if world.budget.route != "PATCH" else Effect(new=OLD, replaces="")
    return _answered(world, run, row.effect if rules.keeps else now)


def _refuses(world: World, run: Run) -> bool:
    """What was read cannot be replaced, or must not be."""
    if world.budget.route == "PUT if none" and run.state in (State.SCHEDULED, State.CLAIMED):
        return True
    over = () if world.budget.route == "PATCH" else (State.CANCELLED, State.REPLACED, None)
    return run.state is not State.SCHEDULED and run.state not in over


def _write(world: World, rules: Rules, run: Run) -> Moved:
    """All of it, or nothing."""
    is_as_read = world.state(run.holder) is run.state
    is_as_read = is_as_read and (world.budget.route == "PATCH" or world.name == run.holder)
    if not is_as_read or (run.body and rules.only_if_none and world.row):
        return f"{_name(run)} finds something changed", world.go_on(run, at="", holder="", state=None)
    replaces = run.holder if run.state is State.SCHEDULED else ""
    effect = Effect(new=f"new {run.number}", replaces=replaces)
    after = _with(world, replaces, State.REPLACED) if replaces else world
    after = evolve(_with(after, effect.new, State.SCHEDULED), name=effect.new)
    label = f"{_name(run)} puts {effect.new}"
    if not run.body:
        return label, after.end(run)
    if after.done(run.body):
        after = evolve(after, broken="one call is done twice")
    after = evolve(after, effects=(*after.effects, (run.body, effect)))
    if not rules.together:
        return label, after.go_on(run, at="noting", effect=effect)
    return label, evolve(after, row=KeyRow(body=run.body, effect=effect)).go_on(run, at="answering", effect=effect)


def _with(world: World, schedule: str, state: State) -> World:
    states = dict(world.states) | {schedule: state}
    return evolve(world, states=tuple(sorted(states.items())))


def _answered(world: World, run: Run, effect: Effect) -> World:
    after = world.end(run)
    if not world.done(run.body):
        return evolve(after, broken="a call is answered that it was done, and it was not")
    return after if world.done(run.body)[0] == effect else evolve(after, broken="a repeat is answered otherwise")


def _refused(world: World, run: Run) -> World:
    after = world.end(run)
    if run.body and world.done(run.body):
        return evolve(after, broken="a call is refused that was done")
    return after
