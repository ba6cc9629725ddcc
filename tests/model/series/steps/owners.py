"""What is done to a single occurrence: its own DELETE and PATCH by its owner, a redrive by an operator."""

from collections.abc import Iterator

from delayer.dead_letters.rules import redriven
from delayer.ledger.model import EventType, LedgerChange, State
from delayer.series.rules.series import CursorChange, SeriesState
from tests.model.series.rules import Rules
from tests.model.series.state import NAME_OF, SCHEDULES, Occurrence, Run, World
from tests.model.state import evolve
from tests.samples import OWNER

Moved = tuple[str, World]
REDRIVABLE = (State.DEAD_LETTERED, State.FAILED)


def steps(world: World, rules: Rules) -> Iterator[Moved]:
    """What may be asked for, and what is under way."""
    for one in world.occurrences:
        yield from _asked_for(world, one)
    for run in sorted(world.runs, key=str):
        if run.kind in UNDER_WAY:
            yield from UNDER_WAY[run.kind](world, rules, run)


def _asked_for(world: World, one: Occurrence) -> Iterator[Moved]:
    name, row = NAME_OF[one.id], world.row(one.id)
    is_stored = row is not None and row.state in REDRIVABLE
    if world.budget.own_deletes and (world.waits(one.id) or _was_cancelled_by_a_pause(world, one)):
        yield f"DELETE of {name}: reads", world.start(_run("own DELETE", world, one))
    if world.budget.own_patches and (world.waits(one.id) or is_stored):
        yield f"PATCH of {name}: reads", world.start(_run("own PATCH", world, one))
    if world.budget.moves and world.waits(one.id):
        yield f"PATCH of {name}, to be due at once: reads", world.start(_run("own move", world, one))
    if world.budget.redrives and is_stored:
        yield f"redrive of {name}: reads", world.start(_run("redrive", world, one))


def _was_cancelled_by_a_pause(world: World, one: Occurrence) -> bool:
    row, cursor = world.row(one.id), world.cursor
    is_filed = one.id in (cursor.current, cursor.backfill.current if cursor.backfill else "")
    return is_filed and cursor.state is SeriesState.PAUSED and row is not None and row.state is State.CANCELLED


def _run(kind: str, world: World, one: Occurrence) -> Run:
    return Run(kind=kind, cursor=world.cursor, row=world.row(one.id), id=one.id)


def _is_current(world: World, rules: Rules, run: Run, change: object) -> bool:
    """Whether the conditions of both writes hold: that of the cursor, if there is one, and that of the ledger row."""
    holds = not isinstance(change, CursorChange) or rules.may_write(change, world.cursor)
    return holds and world.row(run.id) == run.row


def _delete(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    change = rules.occurrence_delete(run.cursor, run.id)
    decision = rules.cancel(run.id, OWNER, run.row, world.now)
    if not _is_current(world, rules, run, change) or not world.budget.own_deletes:
        yield f"DELETE of {NAME_OF[run.id]}: its condition fails", world.end(run)
        return
    is_first = isinstance(decision, LedgerChange)
    is_written = isinstance(change, CursorChange) and (is_first or rules.gives_up(change))
    after = world.write(change) if is_written else world
    after = after.with_row(decision.row, EventType.CANCELLED) if is_first else after
    after = after.spend("own_deletes").end(run)
    one = world.occurrence(run.id)
    given_up = world.given_up if one.is_beside and not one.is_fill else world.given_up | {one.at}
    yield f"DELETE of {NAME_OF[run.id]}: is answered", evolve(after, given_up=given_up)


def _patch(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    assert run.cursor
    old, new = world.occurrence(run.id), world.next_id
    over = world.over(run.cursor, until_its_end=rules.beside_until_its_end)
    change = rules.occurrence_patch(run.cursor, run.id, new, run.row, over)
    decision = rules.replace(run.id, OWNER, run.row, new, world.now)
    is_refused = not isinstance(decision, LedgerChange) or not isinstance(change, CursorChange | None)
    budget = "moves" if run.kind == "own move" else "own_patches"
    if is_refused or not _is_current(world, rules, run, change) or not getattr(world.budget, budget):
        yield f"PATCH of {NAME_OF[run.id]}: its condition fails", world.end(run)
        return
    after = world.write(change) if isinstance(change, CursorChange) else world
    is_fill = bool(after.cursor.backfill and after.cursor.backfill.current == new)
    is_beside = is_fill or (after.cursor.current != new and new in after.cursor.beside)
    is_early = old.is_early or run.kind == "own move"
    following = evolve(old, id=new, is_beside=is_beside, is_fill=is_fill, is_early=is_early)
    after = after.with_row(decision.row, EventType.REPLACED).put(following)
    yield f"PATCH of {NAME_OF[run.id]}: it is {NAME_OF[new]} now", after.spend(budget).end(run)


def _redrive(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    assert run.cursor
    over = world.over(run.cursor, until_its_end=rules.beside_until_its_end)
    change = rules.beside(run.cursor, run.id, over)
    refusal = rules.redrive(SCHEDULES[run.id], run.row, world.now)
    is_current = _is_current(world, rules, run, change if rules.redrive_asks else None)
    is_refused = refusal or not isinstance(change, CursorChange)
    if is_refused or not is_current or not world.budget.redrives:
        yield f"redrive of {NAME_OF[run.id]}: its condition fails", world.end(run)
        return
    after = world.write(change) if isinstance(change, CursorChange) and rules.redrive_asks else world
    after = after.with_row(redriven(run.id, OWNER, run.row, "r", world.now)).spend("redrives").end(run)
    occurrences = tuple(
        evolve(one, is_beside=True, is_fill=False) if one.id == run.id else one for one in after.occurrences
    )
    yield f"redrive of {NAME_OF[run.id]}: it waits again", evolve(after, occurrences=occurrences)


UNDER_WAY = {"own DELETE": _delete, "own PATCH": _patch, "own move": _patch, "redrive": _redrive}
