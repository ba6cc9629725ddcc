"""What may happen to a schedule without a time: its decision, and what clients do to the id that they were given."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from delayer.accept.rules.status import Expired, NotFound, TooLate
from delayer.ledger.model import Already, LedgerChange, LedgerRow, named
from delayer.ledger.rules import Claim
from delayer.timing.rules import Gone
from tests.model.state import evolve
from tests.model.timing.rules import Rules
from tests.model.timing.state import ASKED, MESSAGES, NAME_OF, Budget, Run, World
from tests.samples import NOW, OWNER

Moved = tuple[str, World]


def first(budget: Budget) -> World:
    """It was answered 201."""
    world = World(budget=budget)
    return world.with_row(named(ASKED, OWNER, "n", NOW)) if budget.has_name else world


def steps(world: World, rules: Rules) -> Iterator[Moved]:
    """All that may happen next."""
    yield from _arrivals(world, rules)
    for schedule_id in world.put:
        yield from _claim(world, rules, schedule_id)
    for kind, what in (("DELETE", "deletes"), ("PATCH", "patches"), ("GET", "gets")):
        if getattr(world.budget, what):
            yield f"{kind} begins", world.spend(what).start(Run(kind=kind))
    for run in sorted(world.runs, key=str):
        yield from STEPS[run.kind](world, rules, run)
        if world.budget.crashes and run.kind != "GET":
            dead = world.spend("crashes").end(run)
            yield f"the {run.kind} dies", _again(dead) if run.kind == "decision" else dead


def _arrivals(world: World, rules: Rules) -> Iterator[Moved]:
    if world.hint and world.budget.deciders:
        yield "a message arrives", world.spend("deciders").start(Run(kind="decision"))
    if world.hint and world.budget.lost:
        yield "event and message are lost", evolve(world.spend("lost"), hint=False)
    if world.waits and not world.hint and rules.net:
        yield "the net finds it", evolve(world, hint=True)
    if world.budget.late:
        late = world.spend("late")
        yield "the put of the POST arrives once more", late if world.waits else evolve(late, waits=True, hint=True)


def _claim(world: World, rules: Rules, schedule_id: str) -> Iterator[Moved]:
    row = world.row(schedule_id)
    claim = Claim(message=MESSAGES[schedule_id], fence="f", now=NOW, lease=0)
    if row is None or not row.claimed_at:
        decision = rules.claim(claim, row)
        if isinstance(decision, LedgerChange) and not (row and row.nonce):
            yield f"{NAME_OF[schedule_id]} is claimed", world.with_row(decision.row).claim(schedule_id)


def _may_write(world: World, rules: Rules, change: LedgerChange) -> bool:
    current = world.row(change.row.schedule_id)
    return not rules.conditional or (current and current.revision) == (change.over and change.over.revision)


# ------------------------------------------------------------ the timing function


def _decision(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    if run.at == "":
        if world.waits:
            yield "the decision reads the record, and the row", world.go_on(run, at="read", row=world.row(ASKED))
        else:
            yield "the decision finds no record", _again(world.end(run))
    elif run.at == "putting":
        yield "the decision puts the schedule", evolve(world.end(run).having(run.put), waits=False)
    else:
        yield from _choose(world, rules, run)


def _again(world: World) -> World:
    """A message that is done is deleted, one whose function died comes again; and another one may come."""
    return evolve(world, budget=evolve(world.budget, deciders=world.budget.deciders + 1), hint=world.waits)


def _choose(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    new = world.next_id
    decision = rules.decide(ASKED, OWNER, run.row, NOW, new, "")
    if isinstance(decision, Gone):
        yield "the decision finds that it is over", _again(evolve(world.end(run), waits=False))
        return
    if not _may_write(world, rules, decision):
        yield "the decision meets another write", _again(world.end(run))
        return
    if not rules.one_transaction:
        yield "the decision writes the row", world.with_row(decision.row).go_on(run, at="putting", put=new)
        return
    done = evolve(world.with_row(decision.row).having(new), waits=False)
    yield f"{NAME_OF[new]} is put", _again(done.end(run))
    if world.budget.twins:
        yield f"{NAME_OF[new]} is put, and nobody gets the answer", done.spend("twins").go_on(run, at="")
    if world.budget.refusals:
        refusal = rules.refuse(ASKED, OWNER, run.row, NOW, "")
        refused = evolve(world.spend("refusals").with_row(refusal.row), waits=False)
        yield "the policy refuses", _again(refused.end(run))


# ------------------------------------------------------------ clients


def _delete(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    """The row and the record, in the order of the rules."""
    if run.at == "deleting" or (run.at == "" and not rules.row_first):
        after = evolve(world, waits=False) if run.id == ASKED else world
        yield "DELETE deletes the record", after.end(run) if rules.row_first else after.go_on(run, at="writing")
    else:
        yield from _cancel(world, rules, run)


def _cancel(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    decision = rules.cancel(run.id, OWNER, world.row(run.id), NOW)
    match decision:
        case LedgerChange(row=row):
            after = world.with_row(row).promise()
            following = after.go_on(run, at="deleting") if rules.row_first else after.end(run)
            yield f"DELETE cancels {NAME_OF[run.id]}", following
        case Already():
            yield "DELETE finds it cancelled", world.promise().go_on(run, at="deleting")
        case TooLate(row=LedgerRow(decided_as=put)) if put and rules.follows:
            yield f"DELETE follows to {NAME_OF[put]}", world.go_on(run, id=put)
        case TooLate(row=LedgerRow(decided_as=put)) if put:
            yield "DELETE takes it for over", world.promise().end(run)
        case TooLate() | Expired() | NotFound():
            yield "DELETE is too late", world.end(run)


def _patch(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    """Another time: what it puts has one. Nothing but its transaction writes."""
    if run.at == "":
        yield f"PATCH reads {NAME_OF[run.id]}", world.go_on(run, at="read", row=world.row(run.id))
        return
    new = world.next_id
    decision = rules.replace(run.id, OWNER, run.row, new, NOW)
    match decision:
        case LedgerChange(row=row):
            if not _may_write(world, rules, decision):
                yield "PATCH meets another write", world.go_on(run, at="", row=None)
                return
            gone = evolve(world, waits=False) if run.id == ASKED else world
            after = evolve(gone.with_row(row).promise(new).having(new), by_patch=world.by_patch | {new})
            yield f"PATCH puts {NAME_OF[new]}", after.end(run)
        case TooLate(row=LedgerRow(decided_as=put)) if put:
            yield f"PATCH follows to {NAME_OF[put]}", world.go_on(run, at="", row=None, id=put)
        case _:
            yield "PATCH is too late", world.end(run)


def _get(world: World, rules: Rules, run: Run) -> Iterator[Moved]:
    """Its two reads, one after the other."""
    reads_record = (run.at == "") == rules.record_first
    if run.at == "" and reads_record:
        yield "GET reads the record", world.go_on(run, at="second", found=world.waits)
        return
    if run.at == "":
        yield "GET reads the row", world.go_on(run, at="second", row=world.row(ASKED))
        return
    row = run.row if reads_record else world.row(ASKED)
    found = world.waits if reads_record else run.found
    after = world.end(run)
    yield "GET answers", after if row or found else evolve(after, broken="GET finds neither the record nor the row")


STEPS: Final[Mapping[str, Callable[[World, Rules, Run], Iterator[Moved]]]] = {
    "decision": _decision,
    "DELETE": _delete,
    "PATCH": _patch,
    "GET": _get,
}
