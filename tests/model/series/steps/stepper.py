"""The stepper: it reads, decides, and writes one transaction. An event or the net wakes it."""

from collections.abc import Iterator

from delayer.schedule.instants import HOUR
from delayer.series.ports import named_by
from delayer.series.rules.backfill import Decision, Fill, Filled
from delayer.series.rules.series import Cursor, CursorChange
from delayer.series.rules.stepping import Happened, Over, Step
from tests.model.series.rules import Rules
from tests.model.series.state import NAME_OF, Occurrence, Run, World
from tests.model.state import evolve

Moved = tuple[str, World]


def steps(world: World, rules: Rules) -> Iterator[Moved]:
    """All that a stepper may do, and what may happen to its events."""
    for happened in sorted(_hints(world, rules), key=str):
        yield from _read(world, rules, happened, world.definition)
        if world.budget.torn and not any(run.kind == "torn stepper" for run in world.runs):
            torn = Run(kind="torn stepper", happened=happened, definition=world.definition)
            yield f"a stepper reads definition {world.definition}", world.spend("torn").start(torn)
    for run in sorted(world.runs, key=str):
        if run.kind == "torn stepper" and run.happened:
            yield from _read(world.end(run), rules, run.happened, run.definition)
            yield "the stepper dies", world.end(run)
        elif run.kind == "stepper":
            yield from _write(world, rules, run)
    if world.budget.lost:
        for happened in sorted(world.events, key=str):
            lost = evolve(world.spend("lost"), events=world.events - {happened})
            yield f"the event '{happened.kind}' of {NAME_OF[happened.schedule_id]} is lost", lost


def _hints(world: World, rules: Rules) -> set[Happened]:
    hints = set() if world.budget.steppers else set(world.events)
    if world.budget.has_net and rules.net:
        for one in named_by(world.cursor):
            found = rules.of_row(one, world.row(one), world.now)
            hints |= {found} if found else set()
    return hints


def _read(world: World, rules: Rules, happened: Happened, definition: int) -> Iterator[Moved]:
    """What leads to no write is left out: it changes nothing, and the event may come again."""
    decision = decided(world, rules, happened, world.cursor, definition)
    if isinstance(decision, Step | Over | Fill | Filled):
        run = Run(kind="stepper", cursor=world.cursor, definition=definition, decision=decision)
        what = f"'{happened.kind}' of {NAME_OF[happened.schedule_id]}"
        yield f"a stepper reads the cursor, for {what}", world.start(run)


def decided(world: World, rules: Rules, happened: Happened, cursor: Cursor, definition: int) -> Decision:
    """By what was read."""
    stored = world.definition_of(definition)
    if cursor.backfill and (happened.schedule_id == cursor.backfill.current or rules.any_is_fill):
        found: Decision = rules.fill_step(cursor, stored, world.rule, happened)
    else:
        found = rules.step(cursor, stored, world.rule, happened, world.now)
    return found


def changed_by(run: Run, rules: Rules, schedule_id: str) -> CursorChange:
    """The cursor that a run wants to write."""
    change = rules.filled if isinstance(run.decision, Fill | Filled) else rules.stepped
    return change(run.cursor, run.decision, schedule_id if isinstance(run.decision, Step | Fill) else "")


def _write(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    assert run.cursor
    step = run.decision
    if run.at == "putting":
        after = world.end(run)
        yield f"the stepper puts {which(step)}", _put(after, run, run.id)
        if world.budget.crashes:
            yield "the stepper dies", after.spend("crashes")
        return
    is_put = isinstance(step, Step | Fill)
    change = changed_by(run, rules, world.next_id)
    if not rules.may_write(change, world.cursor):
        yield "the stepper's condition fails", world.end(run)
        return
    written = world.write(change)
    if is_put and not rules.one_transaction:
        yield "the stepper writes the cursor", written.go_on(run, at="putting", id=world.next_id)
        return
    after = _put(written, run, world.next_id) if is_put else written
    what = f"puts {which(step)}" if is_put else f"finds nothing to put: {step}"
    yield f"the stepper {what}", after.end(run)
    if world.budget.twins:
        yield f"the stepper {what}, gets no answer, and will try again", after.spend("twins")


def _put(world: World, run: Run, schedule_id: str) -> World:
    return world.put(occurrence_of(run.decision, schedule_id, run.definition))


def occurrence_of(step: Step | Fill, schedule_id: str, definition: int) -> Occurrence:
    """What is put."""
    if isinstance(step, Fill):
        return Occurrence(id=schedule_id, number=0, at=step.at, revision=definition, is_beside=True, is_fill=True)
    return Occurrence(id=schedule_id, number=step.number, at=step.at, revision=definition)


def which(step: Step | Fill) -> str:
    return f"occurrence {step.number}" if isinstance(step, Step) else f"the backfill's of {step.at // HOUR} h"
