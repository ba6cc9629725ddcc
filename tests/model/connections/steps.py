"""What may happen to a connection: PUT, DELETE, schedules that name it, executors that read it, and the sweep."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from delayer.connections.model import Connection, closed, doomed, replaced
from tests.model.connections.rules import Rules
from tests.model.connections.state import Budget, Run, World, note_of, row_of
from tests.model.state import evolve

Moved = tuple[str, World]
STARTS: Final = (("PUT", "puts"), ("DELETE", "deletes"), ("force", "forced"), ("POST", "posts"), ("executor", "reads"))


def first(budget: Budget) -> World:
    """There is none yet."""
    return World(budget=budget)


def steps(world: World, rules: Rules) -> Iterator[Moved]:
    """All that may happen next."""
    for kind, what in STARTS:
        if getattr(world.budget, what):
            yield f"{kind} begins", world.spend(what).start(Run(kind=kind))
    for one in sorted(world.live):
        yield f"{one} ends", evolve(world, ended=world.ended | {one})
        if world.budget.patches:
            yield f"PATCH of {one} begins", world.spend("patches").start(Run(kind="POST", old=one))
    yield from _sweeps(world)
    for run in sorted(world.runs, key=str):
        yield from STEPS[run.kind](world, rules, run)
        if world.budget.crashes:
            yield f"the {run.kind} dies", world.spend("crashes").end(run)


def _sweeps(world: World) -> Iterator[Moved]:
    """Not of a secret that is being made: no request of its making is under way for ten minutes."""
    making = {run.secret for run in world.runs if run.at == "making"}
    for note in sorted(world.notes, key=str):
        run = Run(kind="sweep", secret=note.secret)
        if note.secret not in making and not any(one.kind == "sweep" for one in world.runs):
            yield f"a sweep finds {note.secret}", world.start(run)


# ------------------------------------------------------------ PUT


def _put(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    match run.at:
        case "":
            secret = f"s{world.made + 1}"
            notes = world.notes | {note_of(secret)} if rules.noted else world.notes
            after = evolve(world, made=world.made + 1, notes=notes)
            yield f"PUT notes {secret}", after.go_on(run, at="making", secret=secret)
        case "making" if rules.secret_first:
            yield f"PUT makes {run.secret}", _having(world, run).go_on(run, at="reading")
        case "making" | "reading":
            at = "deleting first" if world.row and not rules.old_last else "writing"
            yield "PUT reads the row", world.go_on(run, at=at, row=world.row)
        case "writing":
            yield from _write(world, rules, run)
        case _:
            yield from _clear(world, run)


def _clear(world: World, run: Run) -> Iterator[Moved]:
    if run.at == "making last":
        yield f"PUT makes {run.secret}", _having(world, run).go_on(run, at="deleting")
    elif run.at == "deleting first" and run.row:
        yield "PUT deletes the old secret", _without(world, run.row.secret).go_on(run, at="writing")
    else:
        yield "PUT deletes the old secret", _swept(world, run.row).end(run)


def _write(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    """The row, the note of its secret, and that of the old one: all of it, or nothing."""
    is_vouched = not rules.noted or not rules.vouched or note_of(run.secret) in world.notes
    if not is_vouched or not _is_as_read(world, rules, run):
        yield "PUT is too late", world.end(run) if not is_vouched else world.go_on(run, at="reading", row=None)
        return
    new = row_of(run.secret)
    row = replaced(run.row, new) if run.row else new
    notes = {one for one in world.notes if one.secret != run.secret}
    after = evolve(world, row=row, notes=frozenset(notes | _left(rules, run.row)))
    following = "deleting" if run.row and rules.old_last else ""
    if not rules.secret_first:
        following = "making last"
    label = f"PUT writes the row with {run.secret}"
    yield label, after.go_on(run, at=following) if following else after.end(run)
    if world.budget.lost:
        yield f"{label}, and gets no answer", after.spend("lost").end(run)


def _left(rules: Rules, row: Connection | None) -> set[object]:
    return {doomed(row, 0)} if row and rules.left_noted else set()


def _is_as_read(world: World, rules: Rules, run: Run) -> bool:
    """What the condition of the write compares."""
    return not rules.conditional or _compared(world.row, rules) == _compared(run.row, rules)


def _compared(row: Connection | None, rules: Rules) -> tuple[int, str] | None:
    return (row.revision, row.secret if rules.by_secret else "") if row else None


def _having(world: World, run: Run) -> World:
    return evolve(world, secrets=world.secrets | {run.secret})


def _without(world: World, secret: str) -> World:
    return evolve(world, secrets=world.secrets - {secret})


def _swept(world: World, row: Connection | None) -> World:
    """The secret and its note."""
    if row is None:
        return world
    notes = frozenset(one for one in world.notes if one.secret != row.secret)
    return evolve(_without(world, row.secret), notes=notes)


# ------------------------------------------------------------ DELETE


def _delete(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    match run.at:
        case "":
            after = world.go_on(run, at="looking", row=world.row, again=bool(world.row and world.row.closing))
            yield "DELETE reads the row", after if world.row else world.end(run)
        case "looking":
            yield "DELETE reads who names it", world.go_on(run, at="asking", members=world.schedules)
        case "asking":
            yield from _asked(world, rules, run)
        case "closing" if run.row:
            if not _is_as_read(world, rules, run):
                yield "DELETE reads again", world.go_on(run, at="", row=None)
                return
            row = closed(run.row)
            yield "DELETE closes the row", evolve(world, row=row).go_on(run, at="looking", row=row, again=True)
        case "opening" if run.row:
            after = evolve(world, row=closed(run.row, closing=False)) if _is_as_read(world, rules, run) else world
            yield "DELETE opens the row", after.end(run)
        case _:
            yield from _remove(world, rules, run)


def _asked(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    """The ledger says which of the page are live."""
    if set(run.members) & world.live:
        yield "DELETE finds it in use", world.go_on(run, at="opening") if run.again else world.end(run)
    elif rules.closes and not run.again:
        yield "DELETE finds it free", world.go_on(run, at="closing")
    else:
        yield "DELETE finds it free", world.go_on(run, at="removing")


def _remove(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    is_forced = run.kind == "force"
    if is_forced and run.at == "":
        yield "force reads the row", world.go_on(run, at="removing", row=world.row) if world.row else world.end(run)
    elif run.at == "removing" and not _is_as_read(world, rules, run):
        yield "DELETE reads again", world.go_on(run, at="", row=None, again=False)
    elif run.at == "removing":
        notes = world.notes | _left(rules, run.row)
        after = evolve(world, row=None, notes=notes, forced=world.forced or is_forced)
        yield "DELETE removes the row", after.go_on(run, at="sweeping")
        if world.budget.lost:
            yield "DELETE removes the row, and gets no answer", after.spend("lost").end(run)
    else:
        yield "DELETE deletes the secret", _swept(world, run.row).end(run)


# ------------------------------------------------------------ schedules, executors, the sweep


def _post(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    """Also a PATCH, which puts one in the place of another."""
    label = "PATCH" if run.old else "POST"
    is_open = world.row is not None and not world.row.closing
    if run.at == "":
        yield f"{label} reads the row", world.go_on(run, at="putting") if is_open else world.end(run)
        return
    is_checked = rules.gate and (rules.patched_too or not run.old)
    if (is_checked and not is_open) or run.old in world.ended:
        yield f"{label} is refused", world.end(run)
        return
    new = f"schedule {len(world.schedules) + 1}"
    ended = world.ended | {run.old} if run.old else world.ended
    yield f"{label} puts {new}", evolve(world, schedules=(*world.schedules, new), ended=ended).end(run)


def _executor(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    if run.at == "":
        yield "an executor reads the row", world.go_on(run, at="read", row=world.row) if world.row else world.end(run)
    elif run.row and run.row.secret in world.secrets:
        yield "an executor reads the value", world.end(run)
    elif rules.reads_again and run.row != world.row:
        yield "an executor reads the row again", world.go_on(run, at="", row=None)
    else:
        yield "an executor finds no value", evolve(world.end(run), broken="an executor finds a row without its value")


def _sweep(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    """Dooms the note, deletes the secret, forgets the note."""
    if run.at == "":
        found = [one for one in world.notes if one.secret == run.secret]
        if not found:
            yield "the sweep is too late", world.end(run)
        elif rules.doomed_first:
            others = world.notes - set(found)
            after = evolve(world, notes=others | {evolve(one, doomed=True) for one in found})
            yield f"the sweep dooms {run.secret}", after.go_on(run, at="doomed")
        else:
            yield f"the sweep takes {run.secret}", world.go_on(run, at="doomed")
    elif run.at == "doomed":
        yield f"the sweep deletes {run.secret}", _without(world, run.secret).go_on(run, at="forgetting")
    else:
        notes = frozenset(one for one in world.notes if one.secret != run.secret)
        yield f"the sweep forgets {run.secret}", evolve(world, notes=notes).end(run)


STEPS: Final[Mapping[str, Callable[[World, Rules, Run], Iterator[Moved]]]] = {
    "PUT": _put,
    "DELETE": _delete,
    "force": _remove,
    "POST": _post,
    "executor": _executor,
    "sweep": _sweep,
}
