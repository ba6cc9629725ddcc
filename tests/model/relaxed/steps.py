"""All that may happen next."""

from collections.abc import Iterator

from delayer.dead_letters.model import Disposition
from delayer.dead_letters.rules import decide_redrive, redriven, settled
from delayer.enqueue.rules import AskLedger, Ignore, MoveToDeadLetters
from delayer.execute import rules as executing
from delayer.flow.rules.gate import Go
from delayer.ledger.model import Already, LedgerChange, Refuse, State
from delayer.ledger.rules import Claim, ended, ended_unclaimed, may_end, taken
from delayer.schedule.messages import DelayerMessage, ExecutorMessage
from delayer.schedule.table_change import ChangeKind, RecordChange, known
from tests.model.relaxed.rules import Rules
from tests.model.relaxed.state import DUE, INSTANTS, LAST, NEW, OLD, SCHEDULES, Message, Removal, World
from tests.model.state import evolve
from tests.samples import LEASE, OWNER

Moved = tuple[str, World]
EXECUTORS = {"http-request"}


def steps(world: World, rules: Rules) -> Iterator[Moved]:
    """Each with its name."""
    yield from _time(world)
    yield from _dynamodb(world, rules)
    yield from _owner(world, rules)
    yield from _operator(world)
    for removal in world.removals:
        if not removal.is_done:
            yield from _deliver(world, rules, removal)
        elif world.budget.repeats:
            yield from _deliver(world.spend("repeats"), rules, removal)
    yield from _hand_over(world)
    yield from _executor(world, rules)


def _time(world: World) -> Iterator[Moved]:
    """A function does not outlive its lease. In a month, all that is under way comes to its end."""
    if world.at == LAST or world.claimed:
        return
    after = evolve(world, at=world.at + 1)
    if after.at < LAST:
        yield f"{INSTANTS[after.at] - DUE} ms after it is due", after
        return
    waits = [one for one in world.removals if not one.is_done]
    in_time = not world.table or world.budget.very_late
    if in_time and not (waits or world.claimed or world.queue or world.running or world.deleting):
        yield "31 days later: rows have expired", evolve(after, rows=())


def _dynamodb(world: World, rules: Rules) -> Iterator[Moved]:
    for name in sorted(world.table):
        if rules.expires_at(SCHEDULES[name]) <= world.dynamodbs:
            after = world.remove(name, by_ttl=True)
            is_early = world.now < DUE and not world.budget.ahead
            yield f"the TTL removes {name}", after.wrong("the TTL is early") if is_early else after
    if world.budget.late_puts and world.at < LAST and OLD not in world.table:
        yield "the put comes once more", evolve(world.spend("late_puts"), table=world.table | {OLD})


def _owner(world: World, rules: Rules) -> Iterator[Moved]:
    for name in sorted(world.accepted - world.promised):
        if world.budget.cancels:
            yield from _cancel(world.spend("cancels"), rules, name)
    if world.budget.replaces and NEW not in world.accepted:
        yield from _replace(world.spend("replaces"), rules)
    for name, left in sorted(world.deleting):
        after = evolve(world, deleting=world.deleting - {(name, left)})
        if left == "record":
            yield f"the cancel of {name} deletes the record", after.remove(name)
            if world.budget.unfinished:
                yield f"the cancel of {name} dies", after.spend("unfinished")
        else:
            yield from _write_cancel(after, rules, name)


def _cancel(world: World, rules: Rules, name: str) -> Iterator[Moved]:
    if not rules.writes_the_ledger:
        yield f"{name} is cancelled: 200", evolve(world.remove(name), promised=world.promised | {name})
    elif rules.ledger_first:
        yield from _write_cancel(world, rules, name)
    else:
        yield (
            f"the cancel of {name} deletes the record",
            evolve(world.remove(name), deleting=world.deleting | {(name, "row")}),
        )


def _write_cancel(world: World, rules: Rules, name: str) -> Iterator[Moved]:
    decision = rules.cancel(SCHEDULES[name].id, OWNER, world.row(name), world.now)
    if isinstance(decision, LedgerChange | Already):
        after = evolve(world.with_row(name, decision.row), promised=world.promised | {name})
        yield f"{name} is cancelled: 200", evolve(after, deleting=after.deleting | {(name, "record")})
    elif world.deleting != frozenset():
        yield f"{name} is not cancelled any more", world


def _replace(world: World, rules: Rules) -> Iterator[Moved]:
    """One transaction."""
    after = evolve(world.remove(OLD), accepted=world.accepted | {NEW}, promised=world.promised | {OLD})
    after = evolve(after, table=after.table | {NEW})
    if not rules.writes_the_ledger:
        yield "replaced: 200", after
        return
    decision = rules.replace(SCHEDULES[OLD].id, OWNER, world.row(OLD), SCHEDULES[NEW].id, world.now)
    if isinstance(decision, LedgerChange):
        yield "replaced: 200", after.with_row(OLD, decision.row)


def _operator(world: World) -> Iterator[Moved]:
    for name in sorted(world.table if world.budget.by_hand else ()):
        yield (
            f"somebody deletes the record of {name}",
            evolve(world.spend("by_hand").remove(name), touched=world.touched | {name}),
        )
    for name in sorted(world.stored if world.budget.redrives and world.at == 0 else ()):
        row, schedule = world.row(name), SCHEDULES[name]
        if decide_redrive(schedule, row, world.now) is None:
            opened = world.spend("redrives").with_row(name, settled(redriven(schedule.id, OWNER, row, "", world.now)))
            yield f"{name} is redriven", evolve(opened, stored=world.stored - {name}, table=world.table | {name})


def _deliver(world: World, rules: Rules, removal: Removal) -> Iterator[Moved]:
    name, schedule, what = removal.name, SCHEDULES[removal.name], f"{removal.event} of {removal.name} is delivered"
    world = evolve(world, deliveries=world.deliveries + 1) if rules.nonce("", 0) != rules.nonce("", 1) else world
    change = RecordChange(
        kind=ChangeKind.REMOVE,
        sequence=removal.event,
        read=known(schedule),
        record=None,
        event=rules.nonce(removal.event, world.deliveries),
        expired=removal.by_ttl,
    )
    if world.budget.killed:
        reason = MoveToDeadLetters(reason="", schedule=schedule)
        yield f"{what}, and given up", _dead_letter(_touch(world.spend("killed"), name), rules, removal, reason)
    decision = rules.decide(change, world.now, EXECUTORS)
    if isinstance(decision, AskLedger):
        decision = rules.other_removal(schedule, world.row(name))
    match decision:
        case Ignore():
            yield f"{what}: nothing to do", world.done(removal.event)
        case MoveToDeadLetters():
            yield f"{what}: a dead letter", _dead_letter(world, rules, removal, decision)
        case Go(message=message) if world.now >= DUE or not rules.holds:
            yield from _claim(world, rules, removal, message)


def _touch(world: World, name: str) -> World:
    return evolve(world, touched=world.touched | {name})


def _dead_letter(world: World, rules: Rules, removal: Removal, decision: MoveToDeadLetters) -> World:
    name, row = removal.name, world.row(removal.name)
    nonce = rules.nonce(removal.event, world.deliveries) if rules.keeps_the_nonce else ""
    after = world.done(removal.event)
    disposition = rules.disposition(row, nonce)
    if disposition is Disposition.DISCARD:
        return after
    after = evolve(after, stored=after.stored | {name})
    if disposition is Disposition.MARK:
        end = (
            ended(row, State.DEAD_LETTERED, world.now)
            if row
            else ended_unclaimed(SCHEDULES[name].id, OWNER, State.DEAD_LETTERED, world.now, decision.reason)
        )
        after = after.with_row(name, end)
        if name not in world.touched and world.at < LAST:
            return after.wrong("a dead letter, though nobody but its owner has touched it")
    return after


def _claim(world: World, rules: Rules, removal: Removal, message: DelayerMessage) -> Iterator[Moved]:
    name, what = removal.name, f"{removal.event} of {removal.name} is delivered"
    row = world.row(name)
    fence = f"f{row.revision + 1 if row else 1}"
    lease = LEASE if world.at < LAST - 1 else 0
    verdict = rules.claim(Claim(message=message, fence=fence, now=world.now, lease=lease), row)
    if isinstance(verdict, Refuse):
        yield f"{what}: refused", world.done(removal.event)
    elif isinstance(verdict, LedgerChange):
        held = Message(name=name, event=removal.event, nonce=message.nonce, fence=fence)
        if not lease and any(one.name == name for one in world.claimed):
            return  # the function that has claimed it comes to its end first
        after = evolve(world.with_row(name, verdict.row), claimed=world.claimed | {held})
        if any(one.name == name for one in world.running):
            after = evolve(after, twins=(*after.twins, name))
        if name in world.promised:
            after = after.wrong("claimed after its owner was told that it will not be")
        elif not removal.by_ttl:
            after = after.wrong("fired, though somebody has deleted its record")
        elif world.now < DUE:
            after = after.wrong("claimed before its point in time")
        yield f"{what}: claimed", after


def _hand_over(world: World) -> Iterator[Moved]:
    for held in sorted(world.claimed):
        after = evolve(world, claimed=world.claimed - {held})
        sent = evolve(after, queue=after.queue | {held})
        yield f"{held.fence} is handed over", sent.done(held.event)
        if world.budget.crashes:
            yield f"the function dies before it hands over {held.fence}", after.spend("crashes")
            yield f"the function dies after it has handed over {held.fence}", sent.spend("crashes")


def _executor(world: World, rules: Rules) -> Iterator[Moved]:
    for held in sorted(world.queue):
        row = world.row(held.name)
        message = ExecutorMessage(schedule=SCHEDULES[held.name], nonce=held.nonce, fence=held.fence, attempt=1)
        received = evolve(world, queue=world.queue - {held})
        match rules.attempt(message, row):
            case executing.Attempt():
                yield f"{held.fence} is attempted", _attempt(received, held)
            case executing.Take() if row:
                yield f"{held.fence} is attempted", _attempt(received.with_row(held.name, taken(row, held.fence)), held)
            case Refuse():
                yield f"{held.fence} is refused", received
    for held in sorted(world.running):
        row = world.row(held.name)
        after = evolve(world, running=world.running - {held})
        if row and may_end(row, held.nonce, held.fence, 1, State.EXECUTED):
            after = after.with_row(held.name, ended(row, State.EXECUTED, world.now))
        yield f"{held.fence} was accepted", after


def _attempt(world: World, held: Message) -> World:
    after = evolve(world, running=world.running | {held}, attempts=(*world.attempts, held.name))
    if after.attempts.count(held.name) > 1 + after.twins.count(held.name):
        return after.wrong("attempted twice")
    if held.name in world.promised:
        return after.wrong("attempted after its owner was told that it will not be")
    return after
