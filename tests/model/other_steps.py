"""What clients, operators, AWS and time do."""

from collections.abc import Iterator

from attrs import evolve

from delayer.core.ledger import Keep, LedgerRow, ended, first_end, reopened
from delayer.core.lifecycle import State
from delayer.core.withdrawing import Already, Withdraw, decide_replace
from delayer.use_cases.operate import REOPENABLE
from tests.model.rules import Rules
from tests.model.state import INSTANTS, NEW, OLD, SCHEDULES, Copy, World, in_order
from tests.world import LEASE

Step = tuple[str, World]
EXECUTOR_TIMEOUT = 45_000


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """All that may happen beside the relay and the executor."""
    yield from _stream(world)
    yield from _queues(world)
    yield from _dead_letters(world, rules)
    yield from _client(world, rules)
    yield from _operator(world)
    yield from _time(world)


def _stream(world: World) -> Iterator[Step]:
    """A sweep or the fast track deletes; the REMOVE is sent, and maybe again (use_cases/enqueue.py)."""
    for name in sorted(world.table):
        yield (
            f"{name}: its record is deleted",
            evolve(world, table=world.table - {name}, removed=(*world.removed, name)),
        )
    for name in sorted(set(world.removed)):
        sent, copy = world.send(name)
        rest = list(world.removed)
        rest.remove(name)
        yield f"{name}: sent to the delayer queue as {copy.nonce}", evolve(sent, removed=tuple(rest))
        if world.budget.removals:
            yield f"{name}: sent as {copy.nonce}, and its stream record comes again", sent.spend("removals")
    if world.budget.puts and OLD not in world.table:
        yield "old: its put is repeated", evolve(world.spend("puts"), table=world.table | {OLD})


def _queues(world: World) -> Iterator[Step]:
    """At least once: what is in the hands of a function, or was deleted a moment ago, is delivered again."""
    if world.budget.copies:
        for copy in sorted({run.copy for run in world.relays} - world.free, key=str):
            again = evolve(world.spend("copies"), copies=world.copies | {copy}, free=world.free | {copy})
            yield f"SQS delivers {copy.nonce} twice", evolve(again, excused=world.excused + 1)
    if world.budget.deliveries:
        for message in sorted({run.message for run in world.executors} - world.open, key=str):
            again = evolve(world.spend("deliveries"), handed=world.handed | {message}, open=world.open | {message})
            yield f"SQS delivers {message.delivery} twice", evolve(again, excused=world.excused + 1)


def _dead_letters(world: World, rules: Rules) -> Iterator[Step]:
    """What was received in vain ten times is buried, and moved back, or drained (use_cases/drain.py)."""
    if world.budget.burials:
        for copy in in_order(world.free):
            yield (
                f"{copy.nonce} goes to the dead-letter queue",
                evolve(
                    world.spend("burials"),
                    free=world.free - {copy},
                    copies=world.copies - {copy},
                    dead=world.dead | {copy},
                ),
            )
    for copy in in_order(world.dead):
        if world.budget.redrives:
            yield (
                f"{copy.nonce} is moved back into its queue",
                evolve(
                    world.spend("redrives"),
                    dead=world.dead - {copy},
                    free=world.free | {copy},
                    copies=world.copies | {copy},
                ),
            )
        yield f"{copy.nonce} is set aside", _set_aside(world, rules, copy)
        if not rules.body_first and world.budget.crashes:
            marked = evolve(_set_aside(world, rules, copy), kept=world.kept, dead=world.dead)
            yield f"{copy.nonce} is marked, and the function dies", marked.spend("crashes")


def _set_aside(world: World, rules: Rules, copy: Copy) -> World:
    """The body, then the row; a crash in between repeats both, and changes nothing."""
    row = world.row(copy.name)
    gone = evolve(world, dead=world.dead - {copy})
    verdict = rules.set_aside(row, copy.nonce)
    if verdict is Keep.NEEDLESS:
        return gone
    kept = evolve(gone, kept=world.kept | {copy.name})
    return kept.with_row(copy.name, _ended(world, copy.name, row)) if verdict is Keep.MARK else kept


def _ended(world: World, name: str, row: LedgerRow | None) -> LedgerRow:
    """The row that says so."""
    if row is not None:
        return ended(row, State.SET_ASIDE, world.time)
    return first_end(SCHEDULES[name].id, SCHEDULES[name].owner, State.SET_ASIDE, world.time, "")


def _client(world: World, rules: Rules) -> Iterator[Step]:
    """A cancel, and a replacement (use_cases/cancel.py, use_cases/replace.py): one conditional write each."""
    old, row = SCHEDULES[OLD], world.row(OLD)
    if world.budget.cancels:
        verdict = rules.cancel(old.id, old.owner, row, world.time)
        if isinstance(verdict, Withdraw):
            yield "a cancel is answered 200", world.spend("cancels").withdraw().with_row(OLD, verdict.row)
        elif not isinstance(verdict, Already):
            yield "a cancel is answered 409", world.spend("cancels")
    if world.budget.replacements:
        decision = decide_replace(old.id, old.owner, row, SCHEDULES[NEW].id, world.time)
        if isinstance(decision, Withdraw):
            swapped = evolve(world.spend("replacements"), table=world.table - {OLD} | {NEW})
            if OLD in world.table:
                swapped = evolve(swapped, removed=(*world.removed, OLD))
            after = evolve(swapped.withdraw(), replaced=True)
            yield "new takes the place of old", after.with_row(OLD, decision.row)


def _operator(world: World) -> Iterator[Step]:
    """Put back: the row first, then the copy (use_cases/operate.py)."""
    if not world.budget.put_backs:
        return
    for name in sorted(world.kept):
        row = world.row(name)
        if row is not None and row.state in REOPENABLE and INSTANTS[world.now] < LEASE * 100:
            sent, copy = world.spend("put_backs").send(name)
            opened = sent.with_row(name, reopened(row, copy.nonce, world.time))
            yield (
                f"{name} is put back as {copy.nonce}",
                evolve(opened, kept=opened.kept - {name}, excused=world.excused + 1, put_back=True),
            )


def _time(world: World) -> Iterator[Step]:
    """Time passes, but no function outlives its timeout. Expired rows go."""
    if world.now + 1 < len(INSTANTS):
        later = evolve(world, now=world.now + 1)
        outlived = [run for run in world.relays if run.began + LEASE < later.time]
        overdue = [run for run in world.executors if run.began + EXECUTOR_TIMEOUT < later.time]
        if not outlived and not overdue:
            yield "time passes", later
    for name, row in world.rows:
        if world.time >= row.expires_at:
            yield f"the row of {name} expires", world.with_row(name, None)
