"""What may happen: time passes, occurrences are claimed and end, series are stepped, paused and resumed; the net."""

from collections.abc import Iterator
from typing import Any

from delayer.accept.rules.status import decide_cancel
from delayer.ledger.model import EventType, LedgerChange, State
from delayer.series.rules import command, stepping
from delayer.series.rules.series import CursorChange, SeriesState, may_write
from delayer.series.rules.stepping import Happened, Over, Step
from delayer.series.rules.upkeep import Fate
from tests.model.net.rules import Rules
from tests.model.net.state import WRITE_TAKES, Run, World
from tests.model.series.state import IDS, NAME_OF, RULES
from tests.model.state import evolve
from tests.samples import OWNER, a_claim

Moved = tuple[str, World]
RULE = RULES[3]


def steps(world: World, rules: Rules) -> Iterator[Moved]:
    """All that may happen next."""
    yield from _time(world)
    yield from _firing(world)
    yield from _events(world)
    yield from _clients(world)
    for run in sorted(world.runs, key=str):
        yield from {"step": _write_step, "resume": _write_resume, "net": _go_on}[run.kind](world, rules, run)
    if sum(run.kind == "net" for run in world.runs) < world.budget.ticks:
        yield from _begin(world, rules)


def _time(world: World) -> Iterator[Moved]:
    """Who has issued an id has ended its write before too long: nobody waits for longer than that for an answer."""
    writes = [run for run in world.runs if run.kind != "net" or run.at == "filing"]
    is_waiting = any(world.minute - run.begun >= WRITE_TAKES for run in writes)
    if world.budget.minutes and not is_waiting:
        yield f"it is minute {world.minute + 1}", evolve(world.spend("minutes"), minute=world.minute + 1)


def _firing(world: World) -> Iterator[Moved]:
    current = world.cursor.current
    if not current:
        return
    row = world.row(current)
    name = NAME_OF[current]
    if row is None and world.budget.claims:
        claim = a_claim(schedule_id=current, state=State.CLAIMED)
        after = world.spend("claims").with_row(claim, Happened(schedule_id=current, kind=EventType.CLAIMED))
        yield f"{name} is claimed", evolve(after, claimed=IDS.index(current) + 1)
    for schedule_id, known in world.rows:
        if known.state is State.CLAIMED and world.budget.ends:
            end = Happened(schedule_id=schedule_id, kind=EventType.EXECUTED)
            after = world.spend("ends").with_row(evolve(known, state=State.EXECUTED), end)
            yield f"{NAME_OF[schedule_id]} is executed", after


def _events(world: World) -> Iterator[Moved]:
    for happened in sorted(world.events, key=str):
        what = f"the event '{happened.kind}' of {NAME_OF[happened.schedule_id]}"
        without = evolve(world, events=world.events - {happened})
        yield f"{what} comes", _step(without, happened)
        if world.budget.lost:
            yield f"{what} is lost", without.spend("lost")


def _step(world: World, happened: Happened) -> World:
    """Reads and decides; the write comes later. An event that leads to none is gone."""
    decision = stepping.decide_step(world.cursor, world.definition, RULE, happened, world.now)
    if not isinstance(decision, Step | Over):
        return world
    return world.start(Run(kind="step", cursor=world.cursor, decision=decision, begun=world.minute))


def _write_step(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    assert run.cursor
    change = stepping.stepped(run.cursor, run.decision, IDS[len(world.addresses)])
    if not may_write(change, world.cursor):
        yield "the step is overtaken", world.end(run)
        return
    yield "the step is written", _written(world, change, run)


def _written(world: World, change: CursorChange, run: Run) -> World:
    """The cursor and its files, in one transaction."""
    before, after = world.cursor.current, change.cursor.current
    is_new = bool(after) and after != before
    filed = set(world.filed)
    if before and before != after:
        filed.discard((world.address(before), before))
    if is_new:
        filed.add((run.begun, after))
    return evolve(
        world.end(run),
        cursor=change.cursor,
        filed=frozenset(filed),
        addresses=(*world.addresses, run.begun) if is_new else world.addresses,
        times=(*world.times, change.cursor.at) if is_new else world.times,
    )


def _clients(world: World) -> Iterator[Moved]:
    if world.budget.pauses and world.cursor.state is SeriesState.ACTIVE:
        change = command.decide_pause(world.cursor)
        assert isinstance(change, CursorChange)
        paused = evolve(world.spend("pauses"), cursor=change.cursor)
        yield "pause, which dies before it cancels", paused
        yield "pause", _cancelled(paused)
    if world.budget.deletes and world.cursor.state is not SeriesState.CANCELLED:
        change = command.decide_delete(world.cursor)
        assert isinstance(change, CursorChange)
        yield "DELETE", _cancelled(evolve(world.spend("deletes"), cursor=change.cursor))
    if world.budget.resumes and world.cursor.state is SeriesState.PAUSED:
        current = world.cursor.current
        decision = command.decide_resume(world.cursor, world.definition, RULE, world.row(current), world.now)
        if isinstance(decision, command.CancelFirst):
            yield "resume cancels", _cancelled(world)
        else:
            run = Run(kind="resume", cursor=world.cursor, decision=decision, row=world.row(current), begun=world.minute)
            yield "resume reads", world.spend("resumes").start(run)


def _cancelled(world: World) -> World:
    current = world.cursor.current
    if not current:
        return world
    decision = decide_cancel(current, OWNER, world.row(current), a_claim().at)
    if not isinstance(decision, LedgerChange):
        return world
    return world.with_row(decision.row, Happened(schedule_id=current, kind=EventType.CANCELLED))


def _write_resume(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    assert run.cursor
    change = command.resumed(run.cursor, run.decision, run.row, IDS[len(world.addresses)])
    if not may_write(change, world.cursor):
        yield "the resume is overtaken", world.end(run)
        return
    yield "the resume is written", _written(world, change, run)


# ------------------------------------------------------------ the net


def _begin(world: World, rules: Rules) -> Iterator[Moved]:
    """It reads the watermark and the clock, and then queries the next minute. Or the other way round."""
    minute = world.watermark
    may_close = world.minute > minute + rules.closable_after
    if rules.asks_the_clock_first and not may_close:
        return
    if minute < world.minute:
        yield (
            f"the net queries minute {minute}",
            world.start(Run(kind="net", minute=minute, left=_filed_in(world, minute), at="next")),
        )


def _filed_in(world: World, minute: int) -> tuple[str, ...]:
    return tuple(sorted(one for at, one in world.filed if at == minute))


def _go_on(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    if world.budget.crashes:
        yield "the net dies", world.spend("crashes").end(run)
    if run.at == "filing":
        yield from _file_again(world, rules, run)
    elif run.at == "forgetting":
        yield "the net forgets the earlier row", _forgotten(world, run, at="next", left=run.left[1:])
    elif run.at == "decided":
        yield from _decide(world, rules, run)
    elif run.left:
        yield from _look(world, rules, run)
    else:
        yield from _move_watermark(world, rules, run)


def _look(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    """If something has happened, it steps as if the event had come; what comes in between is as an event."""
    about = run.left[0]
    happened = stepping.of_row(about, world.row(about), a_claim().at)
    read = world.go_on(run, at="decided", happened=happened)
    if happened:
        decision = stepping.decide_step(world.cursor, world.definition, RULE, happened, world.now)
        if isinstance(decision, Step | Over):
            step = Run(kind="step", cursor=world.cursor, decision=decision, begun=world.minute)
            change = stepping.stepped(world.cursor, decision, IDS[len(world.addresses)])
            yield f"the net steps, after {NAME_OF[about]}", _written(read, change, step)
            return
    yield f"the net looks at {NAME_OF[about]}", read


def _decide(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    """By the cursor as it is now."""
    about = run.left[0]
    if rules.decide_look(about, world.cursor, run.happened) is Fate.FORGET:
        yield f"the net forgets {NAME_OF[about]}", _forgotten(world, run, at="next", left=run.left[1:])
    elif not rules.files_again:
        yield f"the net leaves {NAME_OF[about]}", world.go_on(run, at="next", left=run.left[1:])
    else:
        passed = world if rules.files_before_the_watermark else _closed(world, run)
        before = passed if rules.files_before_it_forgets else _forgotten(passed, run)
        yield f"the net will file {NAME_OF[about]} again", before.go_on(run, at="filing", begun=world.minute)


def _forgotten(world: World, run: Run, **values: Any) -> World:
    """Without the row that led here. That at the address of what is still current stays: events look it up."""
    about = run.left[0]
    is_looked_up = about == world.cursor.current and run.minute == world.address(about)
    filed = world.filed if is_looked_up else world.filed - {(run.minute, about)}
    return evolve(world.go_on(run, **values) if values else world, filed=filed)


def _file_again(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    about = run.left[0]
    to = run.begun + rules.again_in if rules.again_in else run.minute
    after = evolve(world, filed=world.filed | {(to, about)})
    if to == run.minute:  # there is nothing else to do, and this minute is over
        yield f"the net files {NAME_OF[about]} where it was", after.go_on(run, at="next", left=run.left[1:])
    else:
        yield f"the net files {NAME_OF[about]} again", after.go_on(run, at="forgetting")


def _move_watermark(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    if rules.asks_the_clock_first or world.minute > run.minute + rules.closable_after:
        yield f"minute {run.minute} is closed", _closed(world, run).end(run)


def _closed(world: World, run: Run) -> World:
    return evolve(world, watermark=max(world.watermark, run.minute + 1))
