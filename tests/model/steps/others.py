"""What clients, operators, AWS and time do."""

from collections.abc import Iterator

from attrs import evolve

from delayer.core.api.cancellation import Already
from delayer.core.ledger.lifecycle import State
from delayer.core.ledger.outcome import ended, ended_unclaimed
from delayer.core.ledger.row import LedgerChange, LedgerRow
from delayer.core.recovery.disposition import Disposition
from delayer.core.recovery.redriving import REDRIVABLE, redriven
from tests.model.rules import Rules
from tests.model.state import AT_REST, INSTANTS, NEW, OLD, SCHEDULES, Copy, Drain, Redrive, World, in_order
from tests.world import LEASE

Step = tuple[str, World]
EXECUTOR_TIMEOUT = 45_000


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """All that may happen beside the relay and the executor."""
    yield from _stream(world)
    yield from _queues(world)
    yield from _dead_letters(world, rules)
    yield from _client(world, rules)
    yield from _operator(world, rules)
    yield from _time(world)


def _stream(world: World) -> Iterator[Step]:
    """A sweep or the fast track deletes; the REMOVE is sent, and maybe again (use_cases/firing/enqueue.py)."""
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
            yield f"SQS delivers {message.fence} twice", evolve(again, excused=world.excused + 1)


def _dead_letters(world: World, rules: Rules) -> Iterator[Step]:
    """What was received ten times without success goes to the dead-letter queue.

    Its queue is redriven, or it is drained (use_cases/recovery/drain.py).
    """
    if world.budget.dead_lettered:
        for copy in in_order(world.free):
            yield (
                f"{copy.nonce} goes to the dead-letter queue",
                evolve(
                    world.spend("dead_lettered"),
                    free=world.free - {copy},
                    copies=world.copies - {copy},
                    dead=world.dead | {copy},
                ),
            )
    for copy in in_order(world.dead - {run.copy for run in world.drains}):
        if world.budget.queue_redrives:
            yield (
                f"{copy.nonce} is sent to its queue again by a redrive of the queue",
                evolve(
                    world.spend("queue_redrives"),
                    dead=world.dead - {copy},
                    free=world.free | {copy},
                    copies=world.copies | {copy},
                ),
            )
        yield (
            f"dlq-drain receives {copy.nonce}",
            evolve(world, drains=world.drains | {Drain(copy=copy, at="received")}),
        )
    for run in in_order(world.drains):
        yield from _drain(world, rules, run)
        if world.budget.crashes:
            yield (
                f"dlq-drain dies with {run.copy.nonce}, {run.at}",
                evolve(world.spend("crashes"), drains=world.drains - {run}),
            )


def _drain(world: World, rules: Rules, run: Drain) -> Iterator[Step]:
    """The body, the row, the body once more: a redrive may have deleted it just before the mark."""
    copy = run.copy
    body = (copy.name, copy.nonce)
    away = evolve(world, drains=world.drains - {run})
    letters = evolve(away, letters=world.letters | {body})
    match run.at:
        case "received" if rules.body_first:
            yield (
                f"the body of {copy.nonce} is stored",
                evolve(letters, drains=away.drains | {evolve(run, at="stored")}),
            )
        case "marked":
            yield f"the body of {copy.nonce} is stored once more", evolve(letters, dead=world.dead - {copy})
        case _:
            yield f"the ledger is asked about {copy.nonce}", _mark(away, rules, copy, body)


def _mark(world: World, rules: Rules, copy: Copy, body: tuple[str, str]) -> World:
    """One compare-and-set; a write in between makes it decide again, so that read and write are one step here."""
    row = world.row(copy.name)
    match rules.disposition(row, copy.nonce):
        case Disposition.MARK:
            marked = evolve(world, drains=world.drains | {Drain(copy=copy, at="marked")})
            return marked.with_row(copy.name, _ended(world, copy.name, row))
        case Disposition.DISCARD:
            return evolve(world, dead=world.dead - {copy}, letters=world.letters - {body})
    return evolve(world, dead=world.dead - {copy})


def _ended(world: World, name: str, row: LedgerRow | None) -> LedgerRow:
    """The row that says so."""
    if row is not None:
        return ended(row, State.DEAD_LETTERED, world.time)
    return ended_unclaimed(SCHEDULES[name].id, SCHEDULES[name].owner, State.DEAD_LETTERED, world.time, "")


def _client(world: World, rules: Rules) -> Iterator[Step]:
    """A cancel, and a replacement (use_cases/api/cancel.py, use_cases/api/replace.py): one conditional write each."""
    old, row = SCHEDULES[OLD], world.row(OLD)
    if world.budget.cancels:
        verdict = rules.cancel(old.id, old.owner, row, world.time)
        if isinstance(verdict, LedgerChange):
            yield "a cancel is answered 200", world.spend("cancels").revoke().with_row(OLD, verdict.row)
        elif not isinstance(verdict, Already):
            yield "a cancel is answered 409", world.spend("cancels")
    if world.budget.replacements:
        decision = rules.replace(old.id, old.owner, row, SCHEDULES[NEW].id, world.time)
        if isinstance(decision, LedgerChange):
            swapped = evolve(world.spend("replacements"), table=world.table - {OLD} | {NEW})
            if OLD in world.table:
                swapped = evolve(swapped, removed=(*world.removed, OLD))
            after = evolve(swapped.revoke(), replaced=True)
            yield "new takes the place of old", after.with_row(OLD, decision.row)


def _operator(world: World, rules: Rules) -> Iterator[Step]:
    """Redriven: the row is read, then written, the copy is sent, the body deleted (use_cases/recovery/redrive.py)."""
    run = world.redriving
    if run is None:
        if world.budget.redrives and INSTANTS[world.now] < LEASE * 100:
            for body in sorted(world.letters):
                begun = Redrive(body=body, at="read", row=world.row(body[0]))
                yield f"an operator redrives {body[0]}", evolve(world.spend("redrives"), redriving=begun)
        return
    over = evolve(world, redriving=None)
    match run.at:
        case "read":
            yield f"the redrive of {run.body[0]} goes by the row", _reopen(world, rules, run)
        case "reopened":
            sent, copy = world.send(run.body[0], run.nonce)
            yield f"it is sent as {copy.nonce}", evolve(sent, redriving=evolve(run, at="sent"))
        case "sent":
            yield f"the body of {run.body[0]} is deleted", evolve(over, letters=world.letters - {run.body})
    if world.budget.crashes:
        yield f"the operator's command dies, {run.at}", over.spend("crashes")


def _reopen(world: World, rules: Rules, run: Redrive) -> World:
    name, over = run.body[0], evolve(world, redriving=None)
    if run.row is not None and run.row.state not in REDRIVABLE:
        is_settled = run.row.ended or not rules.spares_claimed
        return evolve(over, letters=world.letters - {run.body}) if is_settled else over
    current = world.row(name)
    if (current and current.revision) != (run.row and run.row.revision):
        return over  # the compare-and-set fails
    nonce = world.next_nonce()
    old = SCHEDULES[name]
    opened = redriven(old.id, old.owner, run.row, nonce, world.time)
    after = evolve(
        world, redriving=evolve(run, at="reopened", row=None, nonce=nonce), excused=world.excused + 1, was_redriven=True
    )
    return after.with_row(name, opened)


def _time(world: World) -> Iterator[Step]:
    """Time passes, but no function outlives its timeout. Expired rows go."""
    if world.now + 1 < len(INSTANTS):
        later = evolve(world, now=_following(world))
        outlived = [run for run in world.relays if run.began + LEASE < later.time]
        overdue = [run for run in world.executors if run.began + EXECUTOR_TIMEOUT < later.time]
        at_rest = not world.drains and not world.redriving
        kept_too_long = world.handed and later.now == len(INSTANTS) - 1  # SQS keeps a message for 14 days
        if not outlived and not overdue and at_rest and not kept_too_long:
            yield "time passes", later
    for name, row in world.rows:
        if world.time >= row.expires_at:
            yield f"the row of {name} expires", world.with_row(name, None)


def _following(world: World) -> int:
    """The next instant. Where nobody asks whether an attempt is under way, that one is left out."""
    following = world.now + 1
    asks = world.budget.replacements or world.was_redriven
    return following if asks or following != AT_REST else following + 1
