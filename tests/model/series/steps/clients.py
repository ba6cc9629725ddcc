"""What clients do to the series: pause, resume, PATCH, DELETE, run-now."""

from collections.abc import Iterator
from typing import Any

from delayer.history.model import SeriesRefuses
from delayer.ledger.model import EventType, LedgerChange
from delayer.series.rules.backfill import Fill, Filled, Range, begun, filled
from delayer.series.rules.command import AlreadyClosed, Await, CancelFirst, ReplaceOccurrence, patched
from delayer.series.rules.series import Cursor, CursorChange, NewTimes, SeriesState
from delayer.series.rules.stepping import Over, Step
from tests.model.series.rules import Rules
from tests.model.series.state import NAME_OF, PAST, Occurrence, Run, World
from tests.model.series.steps.stepper import occurrence_of
from tests.model.state import evolve
from tests.samples import OWNER

Moved = tuple[str, World]
OVERTAKEN = "overtaken"
ASKED = Range(since=PAST[0], until=PAST[-1] + 1)
SUSPENDING = {"pause": "pauses", "DELETE": "deletes", "group cancel": "group_cancels"}


def steps(world: World, rules: Rules) -> Iterator[Moved]:
    """What may be asked for, and what is under way."""
    yield from _asked_for(world, rules)
    for run in sorted(world.runs, key=str):
        if run.kind in UNDER_WAY:
            yield from UNDER_WAY[run.kind](world, rules, run)


def _asked_for(world: World, rules: Rules) -> Iterator[Moved]:
    for kind, what in SUSPENDING.items():
        if getattr(world.budget, what):
            yield from _suspend(world.spend(what), rules, kind)
    if world.budget.resumes and world.cursor.state is SeriesState.PAUSED:
        yield "resume: reads", world.start(Run(kind="resume", cursor=world.cursor, definition=world.definition))
    if world.budget.patches:
        row = world.row(world.cursor.current)
        for times in (NewTimes.NONE, *([NewTimes.BOUNDS] if world.budget.bounds else [])):
            yield f"PATCH ({times}): reads", world.start(Run(kind="PATCH", cursor=world.cursor, row=row, times=times))
    if world.budget.runs:
        yield "run-now: reads", world.start(Run(kind="run-now", cursor=world.cursor))
    if world.budget.backfills:
        yield "backfill: reads", world.start(Run(kind="backfill", cursor=world.cursor, definition=world.definition))


def cancel(world: World, rules: Rules, schedule_id: str) -> World:
    """By the ledger alone."""
    decision = rules.cancel(schedule_id, OWNER, world.row(schedule_id), world.now)
    return world.with_row(decision.row, EventType.CANCELLED) if isinstance(decision, LedgerChange) else world


def _suspend(world: World, rules: Rules, kind: str) -> Iterator[Moved]:
    if kind == "group cancel" and not rules.group_cancels_series:
        yield f"{kind}: reads", world.start(Run(kind=kind, at="cancelling", names=rules.named(world.cursor)))
        return
    if not rules.cursor_first:
        yield f"{kind}: reads", world.start(Run(kind=kind, at="cancelling", names=rules.named(world.cursor)))
        return
    if not rules.names_what_it_wrote_over:
        yield f"{kind}: reads", world.start(Run(kind=kind, at="writing", names=rules.named(world.cursor)))
        return
    written, names = _close(world, rules, kind)
    if names is not None:
        yield f"{kind}: writes the cursor", written.start(Run(kind=kind, at="cancelling", names=names))


def _close(world: World, rules: Rules, kind: str) -> tuple[World, tuple[str, ...] | None]:
    """An update that has no other condition than the state, and returns what it wrote over."""
    decision = rules.pause(world.cursor) if kind == "pause" else rules.delete(world.cursor)
    match decision:
        case CursorChange():
            return world.write(decision), rules.named(decision.over)
        case AlreadyClosed(cursor):
            return world, rules.named(cursor)
    return world, None


def _cancel_all(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    if run.at == "writing":
        written, _ = _close(world, rules, run.kind)
        yield f"{run.kind}: writes the cursor", written.go_on(run, at="cancelling")
        return
    if world.budget.crashes:
        yield f"{run.kind}: dies", world.spend("crashes").end(run)
    if run.names:
        after = cancel(world, rules, run.names[0])
        yield f"{run.kind}: cancels {NAME_OF[run.names[0]]}", after.go_on(run, names=run.names[1:])
        return
    after = world if rules.cursor_first else _close(world, rules, run.kind)[0]
    is_promise = run.decision != OVERTAKEN
    if is_promise and (unnamed := _unnamed(after, rules)):
        after = evolve(after, broken=f"{NAME_OF[unnamed]} may still be handed over, and the answer does not name it")
    yield f"{run.kind}: is answered", evolve(after.end(run), promised=world.promised or is_promise)


def _unnamed(world: World, rules: Rules) -> str:
    """One that has no number, was claimed and has not ended; those with numbers are named by the highest."""
    live = [one.id for one in world.occurrences if not one.number and one.id in world.claimed]
    return next((one for one in live if not world.is_over(one) and one not in rules.named(world.cursor)), "")


def _resume(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    assert run.cursor
    row = world.row(run.cursor.current)
    decision = rules.resume(run.cursor, world.definition_of(run.definition), world.rule, row, world.now)
    if isinstance(decision, CancelFirst):
        yield f"resume: cancels {NAME_OF[run.cursor.current]}", cancel(world, rules, run.cursor.current)
        return
    fill = _fill_of(world, rules, run.cursor)
    if isinstance(fill, CancelFirst) and run.cursor.backfill:
        name = NAME_OF[run.cursor.backfill.current]
        yield f"resume: cancels {name}", cancel(world, rules, run.cursor.backfill.current)
        return
    change = rules.resumed(run.cursor, decision, row, world.next_id if isinstance(decision, Step) else "")
    if not isinstance(decision, Step | Over | Await) or not rules.may_write(change, world.cursor):
        yield "resume: its condition fails", world.end(run)
        return
    if not world.budget.resumes:
        yield "resume: gives up", world.end(run)
        return
    after = _overtake(evolve(world.write(change), promised=False))
    if isinstance(decision, Step):
        after = after.put(occurrence_of(decision, world.next_id, run.definition))
    if isinstance(fill, Fill | Filled):
        schedule_id = after.next_id if isinstance(fill, Fill) else ""
        after = evolve(after, cursor=filled(after.cursor, fill, schedule_id))
        after = after.put(occurrence_of(fill, schedule_id, run.definition)) if isinstance(fill, Fill) else after
    yield "resume: writes", after.spend("resumes").end(run)
    if world.budget.twins:  # the call itself is over for its client, but its transaction comes once more
        yield "resume: writes, gets no answer, and will try again", after.spend("twins")


def _fill_of(world: World, rules: Rules, cursor: Cursor) -> Any:
    row = world.row(cursor.backfill.current) if cursor.backfill else None
    return rules.fill_resume(cursor, world.rule, row, world.now)


def _overtake(world: World) -> World:
    """A pause that is answered after a resume promises nothing any more: the series was resumed after it."""
    runs = {evolve(run, decision=OVERTAKEN) if run.kind == "pause" else run for run in world.runs}
    return evolve(world, runs=frozenset(runs))


def _patch(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    assert run.cursor
    if run.at == "cancelling":
        yield f"PATCH: cancels {NAME_OF[run.id]}", cancel(world, rules, run.id).end(run)
        return
    revision = run.cursor.definition_revision + 1
    definition = world.definition_of(revision)
    is_later, claimed_as = run.times is NewTimes.BOUNDS, rules.new_times(run.times)
    put_off = evolve(world, later=(*world.later, revision)) if is_later else world
    decision = rules.patch(run.cursor, definition, put_off.rule_of(revision), run.row, world.now, claimed_as)
    is_replaced = isinstance(decision, ReplaceOccurrence)
    step = decision.step if is_replaced else decision
    schedule_id = world.next_id if isinstance(step, Step) else ""
    if isinstance(step, SeriesRefuses):
        yield "PATCH: is refused", world.end(run)
        return
    change = patched(run.cursor, decision, definition, world.now, schedule_id, claimed_as)
    is_stale = is_replaced and world.row(run.cursor.current) != run.row and rules.patch_is_one_transaction
    if is_stale or not rules.may_write(change, world.cursor) or not world.budget.patches:
        yield "PATCH: its condition fails", world.end(run)
        return
    number = step.number if isinstance(step, Step | Await) else run.cursor.number + 1
    spent = put_off.spend("bounds") if is_later else world
    after = evolve(
        spent.write(change).spend("patches"),
        definition=revision,
        takes_effect=tuple(sorted({*world.takes_effect, (number, revision)})),
    )
    if isinstance(step, Step):
        if is_replaced and rules.patch_is_one_transaction:
            replaced = rules.replace(run.cursor.current, OWNER, run.row, schedule_id, world.now)
            after = after.with_row(replaced.row, EventType.REPLACED)
        after = after.put(Occurrence(id=schedule_id, number=step.number, at=step.at, revision=revision))
    elif is_replaced:
        after = cancel(after, rules, run.cursor.current)
    yield from _answered(world, after, rules, run, f"PATCH: takes effect at occurrence {number}", is_replaced)


def _answered(before: World, after: World, rules: Rules, run: Run, label: str, is_replaced: bool) -> Iterator[Moved]:
    if is_replaced and not rules.patch_is_one_transaction and run.cursor:
        yield "PATCH: writes the cursor", after.go_on(run, at="cancelling", id=run.cursor.current)
        return
    yield label, after.end(run)
    if before.budget.twins:
        yield f"{label}, gets no answer, and will try again", after.spend("twins")


def _run_now(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    assert run.cursor
    over = world.over(run.cursor, until_its_end=rules.beside_until_its_end)
    change = rules.beside(run.cursor, world.next_id, over)
    if not isinstance(change, CursorChange) or not rules.may_write(change, world.cursor) or not world.budget.runs:
        yield "run-now: its condition fails", world.end(run)
        return
    beside = Occurrence(
        id=world.next_id,
        number=0,
        at=world.now,
        revision=run.cursor.definition_revision,
        is_beside=True,
    )
    after = world.write(change).put(beside).spend("runs")
    yield f"run-now: puts {NAME_OF[world.next_id]}", after.end(run)
    if world.budget.twins:
        yield f"run-now: puts {NAME_OF[world.next_id]}, gets no answer, and will try again", after.spend("twins")


def _backfill(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    assert run.cursor
    definition = world.definition_of(run.definition)
    fill = rules.fill(run.cursor, definition, world.rule, ASKED)
    if not isinstance(fill, Fill) or not world.budget.backfills:
        yield "backfill: is refused", world.end(run)
        return
    change = begun(run.cursor, fill, world.next_id, ASKED)
    if not rules.may_write(change, world.cursor):
        yield "backfill: its condition fails", world.end(run)
        return
    put = occurrence_of(fill, world.next_id, run.definition)
    after = world.write(change).put(put).spend("backfills")
    yield f"backfill: puts {NAME_OF[world.next_id]}", after.end(run)
    if world.budget.twins:
        yield f"backfill: puts {NAME_OF[world.next_id]}, gets no answer, and will try again", after.spend("twins")


UNDER_WAY = dict.fromkeys(SUSPENDING, _cancel_all) | {
    "resume": _resume,
    "PATCH": _patch,
    "run-now": _run_now,
    "backfill": _backfill,
}
