"""The stepper with a batch of events: it reads for all of them at once, and then decides and writes for each in order.

An event comes again until the batch that has handled it is deleted. So two batches may have it at the same time, and
all of a batch comes again after a crash.
"""

from collections.abc import Iterator, Sequence
from itertools import permutations

from delayer.series.ports import named_by
from delayer.series.rules.backfill import Fill, Filled
from delayer.series.rules.series import Cursor
from delayer.series.rules.stepping import Over, ReadAgain, Step
from tests.model.series.rules import Rules
from tests.model.series.state import NAME_OF, Run, World
from tests.model.series.steps.stepper import changed_by, decided, occurrence_of, which
from tests.model.state import evolve

Moved = tuple[str, World]
READING, TORN, HALF, WRITING = "reading", "reads the cursor", "reads the definition", "writing"
AT_MOST = 2  # events of a batch


def steps(world: World, rules: Rules) -> Iterator[Moved]:
    """A batch begins, or goes on."""
    running = sorted((run for run in world.runs if run.kind == "batch"), key=str)
    if len(running) < world.budget.steppers:
        for cursor in _shown(world, rules):
            yield from _begin(world, named_by(cursor))
    for run in running:
        yield from _write(world, rules, run) if run.at == WRITING else _read(world, rules, run)
        if world.budget.crashes:
            yield "the stepper of a batch dies", world.spend("crashes").end(run)


def _shown(world: World, rules: Rules) -> list[Cursor]:
    """What a read may show: with a weak one, also what was there before the last write."""
    before = None if rules.reads_strongly else world.before
    return [world.cursor, before] if before else [world.cursor]


def _begin(world: World, filed: Sequence[str]) -> Iterator[Moved]:
    """It looks which of them are filed. The others were stepped already: they are no reason for anything."""
    for size in range(1, AT_MOST + 1):
        for batch in permutations(sorted(world.events, key=str), size):
            names = ", ".join(f"'{one.kind}' of {NAME_OF[one.schedule_id]}" for one in batch)
            left = tuple(one for one in batch if one.schedule_id in filed)
            begun = Run(kind="batch", at=READING, left=left, settled=frozenset(batch) - set(left))
            yield f"a batch: {names}", _over(world, begun) if not left else world.start(begun)


def _read(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    """Cursor and definition together: either may be from before a PATCH, and the other from after it."""
    if run.at == TORN:
        yield "a batch reads the cursor", _decide(world, rules, run, evolve(run, cursor=world.cursor))
    elif run.at == HALF:
        yield "a batch reads the definition", _decide(world, rules, run, evolve(run, definition=world.definition))
    else:
        for cursor in _shown(world, rules):
            both = evolve(run, cursor=cursor, definition=world.definition)
            yield f"a batch reads cursor {cursor.revision} and the definition", _decide(world, rules, run, both)
        if world.budget.torn:
            torn = world.spend("torn")
            yield "a batch reads the definition first", torn.go_on(run, at=TORN, definition=world.definition)
            yield "a batch reads the cursor first", torn.go_on(run, at=HALF, cursor=world.cursor)


def _decide(world: World, rules: Rules, run: Run, read: Run) -> World:
    """Up to its next write, or to its end. `run` is what it was, `read` what it knows now."""
    cursor, left, settled = read.cursor, list(read.left), set(read.settled)
    assert cursor
    while left:
        decision = decided(world, rules, left[0], cursor, read.definition)
        if isinstance(decision, ReadAgain):
            again = Run(kind="batch", at=READING, left=tuple(left), settled=frozenset(settled))
            return world.end(run).start(again)
        if isinstance(decision, Step | Over | Fill | Filled):
            writes = evolve(read, at=WRITING, left=tuple(left), settled=frozenset(settled), decision=decision)
            return world.end(run).start(writes)
        settled.add(left.pop(0))
    return _over(world.end(run), evolve(run, settled=frozenset(settled)))


def _write(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    assert run.cursor
    change = changed_by(run, rules, world.next_id)
    if not rules.may_write(change, world.cursor):
        settled = run if rules.overtaken_reads_again else _settles_first(run)
        yield "the condition of a batch fails", _go_on(world, run, settled)
        return
    step = run.decision
    is_put = isinstance(step, Step | Fill)
    written = evolve(world.write(change), before=None if rules.reads_strongly else run.cursor)
    if is_put:
        written = written.put(occurrence_of(step, world.next_id, run.definition))
    what = f"puts {which(step)}" if is_put else f"finds nothing to put: {step}"
    knows = evolve(_settles_first(run), cursor=rules.known(change), decision=None)
    yield f"a batch {what}", _decide(written, rules, run, knows)
    failed = evolve(run, left=run.left[1:]) if rules.settles_each else _settles_first(run)
    if world.budget.twins:
        yield f"a batch {what}, and gets no answer", _go_on(written.spend("twins"), run, failed)
    if world.budget.unwritten:
        yield f"a batch cannot write that it {what}", _go_on(world.spend("unwritten"), run, failed)


def _settles_first(run: Run) -> Run:
    return evolve(run, left=run.left[1:], settled=run.settled | {run.left[0]})


def _go_on(world: World, run: Run, after: Run) -> World:
    """What it has read is old: it reads again for those that are left."""
    rest = Run(kind="batch", at=READING, left=after.left, settled=after.settled)
    return world.end(run).start(rest) if rest.left else _over(world.end(run), rest)


def _over(world: World, run: Run) -> World:
    """What is settled is deleted."""
    return evolve(world, events=world.events - run.settled)
