"""What clients, operators, AWS and time do."""

from collections.abc import Iterator

from delayer.dead_letters.model import Disposition
from delayer.dead_letters.rules import redriven
from delayer.ledger.model import Already, LedgerChange, LedgerRow, State
from delayer.ledger.rules import ended, ended_unclaimed
from tests.model.rules import Rules
from tests.model.state import (
    AT_REST,
    INSTANTS,
    NEW,
    OLD,
    PLANNED,
    REDRIVEN,
    SCHEDULES,
    Copy,
    GivingUp,
    Message,
    Redrive,
    World,
    evolve,
    in_order,
    label_of,
    name_of,
)
from tests.world import LEASE

Step = tuple[str, World]


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """All that may happen beside the relay and the executor."""
    yield from _stream(world)
    yield from _queues(world)
    yield from _suspects(world, rules)
    yield from _client(world, rules)
    yield from _operator(world, rules)
    yield from _time(world)


def _stream(world: World) -> Iterator[Step]:
    """A sweep or the fast track deletes; the REMOVE is sent, and maybe again (enqueue/enqueue.py)."""
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
            yield f"SQS delivers {copy.nonce} twice", again
    if world.budget.deliveries:
        for message in sorted({run.message for run in world.executors} - world.open, key=str):
            again = evolve(world.spend("deliveries").put(message), twice=world.twice | {message.fence})
            yield f"SQS delivers {label_of(message)} twice", again


def _suspects(world: World, rules: Rules) -> Iterator[Step]:
    """What its functions died of, while others passed, is given up, though other copies of it may be under way.

    The functions themselves do it (recovery/guard.py, dead_letters/dead_letter.py).
    """
    if world.budget.given_up:
        for copy in in_order(world.free):
            yield f"{copy.nonce} is a suspect to be given up", _to_give_up(world, copy)
        for message in in_order(world.open):
            yield f"{label_of(message)} is a suspect to be given up", _to_give_up(world, message)
    for run in in_order(world.giving_up):
        yield from _give_up(world, rules, run)
        if world.budget.crashes and run.at != "waiting":
            yield f"who gives up {label_of(run.message)} dies, {run.at}", _died(world.spend("crashes"), run)


def _to_give_up(world: World, message: Message) -> World:
    taken = evolve(
        world.spend("given_up"),
        free=frozenset(one for one in world.free if one != message),
        open=frozenset(one for one in world.open if one != message),
    )
    return evolve(taken, giving_up=world.giving_up | {GivingUp(message=message, at="waiting")})


def _died(world: World, run: GivingUp) -> World:
    """The proofs against a suspect stay noted until its end is written; everything else is decided again."""
    rest = evolve(world, giving_up=world.giving_up - {run})
    if run.is_suspect and run.at != "settling":
        return evolve(rest, giving_up=rest.giving_up | {evolve(run, at="waiting")})
    return rest.give_back(run.message)


def _give_up(world: World, rules: Rules, run: GivingUp) -> Iterator[Step]:
    """The body, the row, the body once more: a redrive may have deleted it just before the mark."""
    body, label = (name_of(run.message), label_of(run.message)), label_of(run.message)
    match run.at:
        case "waiting" if rules.body_first:
            stored = evolve(world, letters=world.letters | {body})
            yield f"the body of {label} is stored", _goes_on(stored, run, "stored")
        case "marked":
            stored = evolve(world, letters=world.letters | {body})
            yield f"the body of {label} is stored once more", _goes_on(stored, run, "settling")
        case "settling":
            gone = evolve(world, giving_up=world.giving_up - {run})
            yield f"{label} is deleted", gone.delete(run.message)
        case _:
            yield f"the ledger is asked about {label}", _mark(world, rules, run, body)


def _goes_on(world: World, run: GivingUp, at: str) -> World:
    return evolve(world, giving_up=world.giving_up - {run} | {evolve(run, at=at)})


def _mark(world: World, rules: Rules, run: GivingUp, body: tuple[str, str]) -> World:
    """One compare-and-set; a write in between makes it decide again, so that read and write are one step here."""
    name, message = body[0], run.message
    row = world.row(name)
    match rules.disposition(row, message.nonce, "" if isinstance(message, Copy) else message.fence):
        case Disposition.MARK:
            return _goes_on(world, run, "marked").with_row(name, _ended(world, name, row))
        case Disposition.DISCARD:
            return _goes_on(evolve(world, letters=world.letters - {body}), run, "settling")
    return _goes_on(world, run, "settling")


def _ended(world: World, name: str, row: LedgerRow | None) -> LedgerRow:
    """The row that says so."""
    if row is not None:
        return ended(row, State.DEAD_LETTERED, world.time)
    return ended_unclaimed(SCHEDULES[name].id, SCHEDULES[name].owner, State.DEAD_LETTERED, world.time, "")


def _client(world: World, rules: Rules) -> Iterator[Step]:
    """A cancel, a stop, a replacement: one conditional write each (accept/use_cases: cancel.py, replace.py)."""
    old, row = SCHEDULES[OLD], world.row(OLD)
    if world.budget.cancels:
        verdict = rules.cancel(old.id, old.owner, row, world.time)
        if isinstance(verdict, LedgerChange):
            yield "a cancel is answered 200", _revoked(world.spend("cancels")).with_row(OLD, verdict.row)
        elif not isinstance(verdict, Already):
            yield "a cancel is answered 409", world.spend("cancels")
    if world.budget.stops:
        stop = rules.stop(old.id, old.owner, row, world.time)
        if isinstance(stop, LedgerChange):
            yield "old is stopped", evolve(world.spend("stops"), stopped=True).with_row(OLD, stop.row)
    if world.budget.replacements:
        yield from _replace(world, rules, row)


def _replace(world: World, rules: Rules, row: LedgerRow | None) -> Iterator[Step]:
    old = SCHEDULES[OLD]
    decision = rules.replace(old.id, old.owner, row, SCHEDULES[NEW].id, world.time)
    if isinstance(decision, LedgerChange):
        swapped = evolve(world.spend("replacements"), table=world.table - {OLD} | {NEW})
        if OLD in world.table:
            swapped = evolve(swapped, removed=(*world.removed, OLD))
        after = evolve(_revoked(swapped), replaced=True).allow(NEW, PLANNED)
        yield "new takes the place of old", after.with_row(OLD, decision.row)


def _revoked(world: World) -> World:
    """From here on old may not be handed over, nor attempted."""
    return evolve(world, revoked=True)


def _operator(world: World, rules: Rules) -> Iterator[Step]:
    """Redriven: the row is read, then written, the copy is sent, the body deleted (dead_letters)."""
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
    old = SCHEDULES[name]
    if refusal := rules.redrive(old, run.row, world.time):
        return evolve(over, letters=world.letters - {run.body}) if refusal.settled else over
    current = world.row(name)
    if (current and current.revision) != (run.row and run.row.revision):
        return over  # the compare-and-set fails
    nonce = world.next_nonce()
    opened = redriven(old.id, old.owner, run.row, nonce, world.time)
    reopened = evolve(run, at="reopened", row=None, nonce=nonce)
    return evolve(world, redriving=reopened, was_redriven=True).allow(name, REDRIVEN).with_row(name, opened)


def _time(world: World) -> Iterator[Step]:
    """Time passes, but no function outlives its timeout. Expired rows go."""
    if world.now + 1 < len(INSTANTS):
        later = evolve(world, now=_following(world))
        ends = [run.until for run in world.relays] + [run.until for run in world.executors]
        outlived = any(until < later.time for until in ends)
        at_rest = not world.redriving and all(run.at == "waiting" for run in world.giving_up)
        kept_too_long = world.handed and later.now == len(INSTANTS) - 1  # SQS keeps a message for 14 days
        if not outlived and at_rest and not kept_too_long:
            yield "time passes", later
    for name, row in world.rows:
        if world.time >= row.expires_at:
            yield f"the row of {name} expires", world.with_row(name, None)


def _following(world: World) -> int:
    """The next instant. Where nobody asks whether an attempt is under way, that one is left out."""
    following = world.now + 1
    asks = world.budget.replacements or world.was_redriven
    return following if asks or following != AT_REST else following + 1
