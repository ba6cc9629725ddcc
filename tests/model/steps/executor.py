"""What an executor does, one effect at a time; in the order of execute/execute.py."""

from collections.abc import Iterator

from delayer.actions.rules.model import Done, Refused, Result, Retry
from delayer.dead_letters.model import may_need_body
from delayer.execute.rules import (
    Attempt,
    DropStopped,
    Made,
    Orphan,
    SendNext,
    Take,
    carried,
    made_of,
)
from delayer.ledger.model import Arrival, IllegalTransition, LedgerRow, Refuse, RetryLater, State
from delayer.ledger.rules import contested, ended, retried, taken
from delayer.schedule.instants import Millis
from delayer.schedule.messages import ExecutorMessage, OutcomeMessage
from tests.model.rules import Rules, is_far
from tests.model.state import (
    CARRIED,
    CRASH,
    DUE,
    DUPLICATE,
    EXECUTOR_TIMEOUT,
    LONG_AFTER,
    OLD,
    OVERTAKEN,
    PLANNED,
    RETRY_AT,
    TWIN,
    UNCARRIED,
    Executor,
    GivingUp,
    World,
    evolve,
    in_order,
    label_of,
    last_before,
    name_of,
    same_token,
    token_of,
)

Step = tuple[str, World]


def steps(world: World, rules: Rules) -> Iterator[Step]:
    """Whatever may happen next to a message of the executor's queue."""
    for message in in_order(world.open):
        if _is_delayed(world, rules, message):
            continue  # by SQS
        run = Executor(message=message, at="received", until=last_before(world.time + EXECUTOR_TIMEOUT))
        yield (
            f"an executor receives {label_of(message)}",
            evolve(world, open=world.open - {message}, executors=world.executors | {run}),
        )
    for run in in_order(world.executors):
        yield from _next(world, rules, run)
        if world.budget.crashes:
            dead = _leave(world.spend("crashes"), run)
            after = _repeatable(dead, run, CRASH) if run.result else dead
            yield f"the executor of {label_of(run.message)} dies, {run.at}", after


def _next(world: World, rules: Rules, run: Executor) -> Iterator[Step]:
    label = label_of(run.message)
    match run.at:
        case "received":
            yield from _receive(world, rules, run)
        case "attempting":
            yield from _answers(_attempt(world, run), run)
        case "taking" | "hopping" | "contesting" | "ending":
            yield from _compare_and_set(world, rules, run)
        case "sending":
            yield from _send(world, run)
        case "carrying":
            yield from _carry(world, run)
        case "settling":
            yield f"{label} is deleted", evolve(world, executors=world.executors - {run}).delete(run.message)


def _compare_and_set(world: World, rules: Rules, run: Executor) -> Iterator[Step]:
    """If the current row is not the one that was read, it decides again."""
    write = {"taking": _take, "hopping": _hop, "contesting": _contest, "ending": _write}[run.at]
    yield from write(world, rules, run)


def _receive(world: World, rules: Rules, run: Executor) -> Iterator[Step]:
    message, row, label = run.message, world.row(name_of(run.message)), label_of(run.message)
    if isinstance(message, OutcomeMessage) and rules.carrier_only_writes:
        yield f"the executor reads the ledger for {label}", _write_down(world, rules, run, made_of(message))
    else:
        if early := rules.wait(message, world.time):
            if is_far(early, world.time):
                yield f"{label} comes far too early", _leave(world, run)
            return  # until time has passed
        yield f"the executor reads the ledger for {label}", _decide(world, rules, run, row)
        yield from _may_be_closed(world, rules, run, row)
    if world.now >= LONG_AFTER and isinstance(rules.attempt(message, row), RetryLater):
        yield f"{label} has waited for three days", _give_up(world, run, is_suspect=True)


def _may_be_closed(world: World, rules: Rules, run: Executor, row: LedgerRow | None) -> Iterator[Step]:
    """Its gate may be closed at that moment: it waits, or is given up if it has waited for too long."""
    label = label_of(run.message)
    is_attempt = row and isinstance(rules.attempt(run.message, row), Attempt | Take)
    if not world.budget.closures or not row or not is_attempt or isinstance(run.message, OutcomeMessage):
        return
    if row.arrival is Arrival.TAKEN and not rules.puts_off_taken:
        return  # it is being attempted, and is not put off any more
    if is_far(rules.early(row, world.time), world.time):
        return
    closed = world.spend("closures")
    yield f"{label} waits", _begin_hop(closed, rules, run, row, retry_at=min(world.time, DUE))
    stored = evolve(closed, letters=closed.letters | {_failed_body(run)})
    given_up = ended(row, State.FAILED, world.time)
    yield (
        f"{label} is given up, as it has waited for too long",
        _move(stored, run, at="ending", row=row, wanted=given_up),
    )


def _decide(world: World, rules: Rules, run: Executor, row: LedgerRow | None) -> World:
    decision = rules.attempt(run.message, row)
    if row and isinstance(decision, Attempt | Take) and is_far(rules.early(row, world.time), world.time):
        return _begin_hop(world, rules, run, row)
    if isinstance(decision, Take) and rules.takes:
        return _move(world, run, at="taking", row=row)
    match decision:
        case Attempt() | Take():
            return _begin(world, run, row, OVERTAKEN if row and row.arrival is Arrival.UNKNOWN else "")
        case SendNext() if row:
            return _send_next(world, rules, run, row)
        case DropStopped() if row:
            return _move(world, run, at="ending", row=row, wanted=ended(row, State.DROPPED, world.time))
        case RetryLater():
            return _leave(world, run)
        case Orphan():
            return _give_up(world, run, is_suspect=False)
    return _move(world, run, at="settling")


def _take(world: World, rules: Rules, run: Executor) -> Iterator[Step]:
    """Of several messages for one attempt, the first that arrives makes it."""
    name, label = name_of(run.message), label_of(run.message)
    current = world.row(name)
    if current and run.row and current.revision == run.row.revision:
        row = taken(run.row, token_of(run.message))
        why = TWIN if row.retry_of else OVERTAKEN
        yield f"{label} takes the attempt", _begin(world, run, row, why).with_row(name, row)
    else:
        yield f"{label} finds another row", _decide(world, rules, run, current)
        yield from _may_be_closed(world, rules, run, current)


def _is_delayed(world: World, rules: Rules, message: ExecutorMessage | OutcomeMessage) -> bool:
    """Whether SQS keeps it until its attempt may be made. As often as the budget allows, it comes before."""
    row = world.row(name_of(message))
    if isinstance(message, OutcomeMessage) or not row or row.retry_at <= world.time or world.budget.hops:
        return False
    return message.attempt == row.attempt


def _begin_hop(world: World, rules: Rules, run: Executor, row: LedgerRow, retry_at: Millis = 0) -> World:
    """`retry_at` is when a gate is asked again; without it, SQS could not delay the message for long enough."""
    assert isinstance(run.message, ExecutorMessage)
    early = world.spend("hops") if world.budget.hops and not retry_at else world
    if not rules.hop_is_fresh:
        return _move(early, run, at="sending", following=same_token(run.message))
    if not rules.hop_is_written:
        return _resend(early, run, row)
    wanted = rules.hopped(row, f"d{row.revision + 1}", world.time, after=run.message.fence, retry_at=retry_at)
    return _move(early, run, at="hopping", row=row, wanted=wanted)


def _hop(world: World, rules: Rules, run: Executor) -> Iterator[Step]:
    """Too early for its attempt: another message waits on, with a token of its own, of which the ledger knows."""
    assert run.row is not None
    assert run.wanted is not None
    name, label = name_of(run.message), label_of(run.message)
    current = world.row(name)
    if current and current.revision == run.row.revision:
        following = _next_attempt(run, run.wanted)
        after = _move(world, run, at="sending", row=None, wanted=None, following=following)
        yield f"{label} will be sent again for its attempt", after.with_row(name, run.wanted)
    else:
        yield f"{label} finds another row", _decide(world, rules, run, current)
        yield from _may_be_closed(world, rules, run, current)


def _begin(world: World, run: Executor, row: LedgerRow | None, why: str) -> World:
    explained = world.repeat(run.message, why)
    return _checked(_move(explained, run, at="attempting", row=row), run, row)


def _checked(world: World, run: Executor, row: LedgerRow | None) -> World:
    """What it read must let it attempt."""
    if row is None or row.ended:
        return evolve(world, broken="an attempt is begun though the ledger says that it has ended")
    if not row.admits(token_of(run.message), run.message.attempt):
        return evolve(world, broken="an attempt is begun though the ledger says that it was overtaken")
    if row.retry_at > world.time:
        return evolve(world, broken="an attempt is begun before its delay is over")
    if world.stopped and name_of(run.message) == OLD:
        return evolve(world, broken="an attempt is begun after it was stopped")
    return world


def _attempt(world: World, run: Executor) -> World:
    name = name_of(run.message)
    if world.time < DUE:
        return evolve(world, broken="the target is reached early")
    if world.revoked and name == OLD:
        return evolve(world, broken="old reaches the target after it was cancelled or replaced")
    return world.use_up(name)


def _answers(world: World, run: Executor) -> Iterator[Step]:
    """What the target may say. What it refuses is stored before the ledger says so."""
    label = label_of(run.message)
    yield f"the target is reached by {label}, and takes it", _made(world, run, Done(""))
    if world.budget.refusals:
        refused = world.spend("refusals")
        yield f"the target is reached by {label}, and fails", _made(refused, run, Retry(detail=""))
        yield f"the target is reached by {label}, and refuses it", _made(refused, run, Refused(""))
        if world.budget.unwritten:
            unstored = _move(refused.spend("unwritten"), run, at="carrying", result=Refused(""))
            yield f"the target is reached by {label}, and refuses it; its body cannot be stored", unstored


def _made(world: World, run: Executor, result: Result) -> World:
    assert run.row is not None
    return _record(world, run, run.row, result, result)


def _record(world: World, run: Executor, row: LedgerRow, result: Result, unwritten: Result | None) -> World:
    """What is to be written. `unwritten` is what is to be carried if that fails."""
    now, following = world.time, None
    try:
        match result:
            case Done():
                wanted = ended(row, State.EXECUTED, now)
            case Refused():
                wanted = ended(row, State.FAILED, now)
                world = evolve(world, letters=world.letters | {_failed_body(run)})
            case Retry():
                later = RETRY_AT if world.budget.hops and now < RETRY_AT else 0
                wanted = retried(row, f"d{row.revision + 1}", now, after=token_of(run.message), retry_at=later)
                following = _next_attempt(run, wanted)
    except IllegalTransition:
        return evolve(world, broken="an outcome is written that the lifecycle does not allow")
    return _move(world, run, at="ending", row=row, wanted=wanted, following=following, result=unwritten)


def _write_down(world: World, rules: Rules, run: Executor, made: Made) -> World:
    """The attempt was made before; only what came of it is written."""
    row, message = world.row(name_of(run.message)), made.message
    if row is None:
        return _move(world, run, at="settling")
    if not rules.carrier_checks:
        return _record(world, run, row, made.result, None)
    if isinstance(made.result, Done):
        is_true = rules.may_end(row, message.nonce, message.fence, message.attempt, State.EXECUTED)
        return _record(world, run, row, made.result, None) if is_true else _move(world, run, at="settling")
    match rules.attempt(message, row):
        case Attempt() | Take() | DropStopped():
            return _record(world, run, row, made.result, None)
        case RetryLater():
            return _leave(world, run)
        case SendNext():
            return _send_next(_uncounted(world, run, row, made.result), rules, run, row)
    return _move(_uncounted(world, run, row, made.result), run, at="settling")


def _write(world: World, rules: Rules, run: Executor) -> Iterator[Step]:
    """One compare-and-set; if the current row is not the one that was read, it decides again."""
    assert run.row is not None
    assert run.wanted is not None
    name, label, wanted = name_of(run.message), label_of(run.message), run.wanted
    current = world.row(name)
    if current is None:
        yield f"the row of {label} has expired", _move(world, run, at="settling", result=None)
    elif current.revision == run.row.revision:
        written = _written(world, run, current)
        after = _move(written, run, at="sending" if run.following else "settling", result=None)
        yield f"the ledger: {wanted.state} by {label}", after
        if world.budget.unwritten:
            lost = _not_written(written.spend("unwritten"), rules, run)
            yield f"the ledger: {wanted.state} by {label}, but the answer is lost", lost
    elif run.following is None and _may_end(rules, run, current, wanted.state):
        again = _move(world, run, row=current, wanted=ended(current, wanted.state, world.time))
        yield f"the executor of {label} finds another row", again
    else:
        yield f"{label} was overtaken", _overtaken(world, rules, run, current)
    if world.budget.unwritten:
        yield f"the ledger does not answer to {label}", _not_written(world.spend("unwritten"), rules, run)


def _may_end(rules: Rules, run: Executor, current: LedgerRow, state: State) -> bool:
    return rules.may_end(current, run.message.nonce, run.message.fence, run.message.attempt, state)


def _written(world: World, run: Executor, current: LedgerRow) -> World:
    """Over the claim of its own message; that the target accepted it may be written over a later token, too."""
    assert run.wanted is not None
    name = name_of(run.message)
    is_own = current.nonce == run.message.nonce and (
        current.admits(token_of(run.message), run.message.attempt) or run.wanted.state is State.EXECUTED
    )
    after = world.with_row(name, run.wanted)
    if not is_own:
        return evolve(after, broken="the outcome of one message is written over the claim of another")
    return after.allow(name, PLANNED) if run.following else after


def _not_written(world: World, rules: Rules, run: Executor) -> World:
    """As far as it knows. What was made is carried; everything else is tried again by whoever receives it next."""
    if run.result is None:
        return _leave(world, run)
    return _move(world, run, at="carrying") if rules.carries else _leave(world, run)


def _overtaken(world: World, rules: Rules, run: Executor, current: LedgerRow) -> World:
    """Another message was faster, whatever became of this attempt. The current row decides."""
    made = made_of(run.message).result if isinstance(run.message, OutcomeMessage) else run.result
    world = _uncounted(world, run, current, made)
    state = run.wanted.state if run.wanted and run.at == "ending" else None
    if run.following and isinstance(rules.attempt(run.message, current), Attempt | Take) and run.at == "ending":
        return _record(world, run, current, Retry(detail=""), run.result)  # still its own: contested meanwhile
    if state is State.FAILED and not may_need_body(current):
        world = evolve(world, letters=world.letters - {_failed_body(run)})
    if state is State.EXECUTED:
        return _move(world, run, at="settling", result=None)
    match rules.attempt(run.message, current):
        case SendNext():
            return _send_next(world, rules, run, current)
        case DropStopped():
            dropped = ended(current, State.DROPPED, world.time)
            return _move(world, run, at="ending", row=current, wanted=dropped, following=None)
        case Refuse():
            return _move(world, run, at="settling", result=None)
    return _leave(world, run)


def _uncounted(world: World, run: Executor, current: LedgerRow, result: Result | None) -> World:
    """That it failed counts for nothing, if another message for the same attempt was put off before that is written."""
    if result is None or isinstance(result, Done) or current.ended or current.nonce != run.message.nonce:
        return world
    is_put_off = current.attempt == run.message.attempt and current.arrival is not Arrival.TAKEN and current.retry_of
    if not is_put_off or current.admits(token_of(run.message), run.message.attempt):
        return world
    if isinstance(run.message, OutcomeMessage):
        return world.allow(name_of(run.message), CARRIED)
    why = DUPLICATE if run.message.fence in world.twice else OVERTAKEN if run.message.attempt == 1 else TWIN
    return world.allow(name_of(run.message), why)


def _send_next(world: World, rules: Rules, run: Executor, row: LedgerRow) -> World:
    """The ledger first: from then on the first of several messages that arrives makes the attempt."""
    if not rules.fresh_token:
        return _move(world, run, at="sending", following=_next_attempt(run, row), result=None)
    if row.arrival is Arrival.CONTESTED or not rules.contests:
        return _resend(world, run, row)
    return _move(world, run, at="contesting", row=row, wanted=contested(row), following=None)


def _contest(world: World, rules: Rules, run: Executor) -> Iterator[Step]:
    assert run.row is not None
    assert run.wanted is not None
    name, label = name_of(run.message), label_of(run.message)
    current = world.row(name)
    if current is None:
        yield f"the row of {label} has expired", _leave(world, run)
    elif current.revision == run.row.revision:
        yield (
            f"{label} writes that the next attempt is contested",
            _resend(world.with_row(name, run.wanted), run, run.wanted),
        )
    else:
        yield f"{label} was overtaken", _overtaken(world, rules, run, current)


def _resend(world: World, run: Executor, row: LedgerRow) -> World:
    following = evolve(_next_attempt(run, row), fence=f"e{world.resends + 1}")
    return _move(
        evolve(world, resends=world.resends + 1),
        run,
        at="sending",
        row=None,
        wanted=None,
        following=following,
        result=None,
    )


def _send(world: World, run: Executor) -> Iterator[Step]:
    assert run.following is not None
    label, sent = label_of(run.following), world.put(run.following)
    yield f"the executor sends {label}", _move(sent, run, at="settling")
    if world.budget.unanswered:
        yield f"{label} is sent, and reported as not sent", _leave(sent.spend("unanswered"), run)
        yield f"{label} cannot be sent", _leave(world.spend("unanswered"), run)


def _carry(world: World, run: Executor) -> Iterator[Step]:
    """A message with the outcome takes the place of the attempt's own, if it is known to be sent."""
    assert run.result is not None
    assert isinstance(run.message, ExecutorMessage)
    carrier = carried(Made(message=run.message, result=run.result, lateness=0))
    label, sent = label_of(carrier), world.put(carrier)
    yield f"the executor sends {label}", _move(sent, run, at="settling", result=None)
    if world.budget.unanswered:
        yield f"{label} is sent, and reported as not sent", _leave(sent.spend("unanswered"), run)
        yield f"{label} cannot be sent", _repeatable(_leave(world.spend("unanswered"), run), run, UNCARRIED)


def _repeatable(world: World, run: Executor, why: str) -> World:
    """Nothing is left that knows of the attempt: it is made again, by this message or another, if the row allows it."""
    name = name_of(run.message)
    row = world.row(name)
    if row is None or row.ended or row.nonce != run.message.nonce:
        return world
    is_left = row.arrival is not Arrival.TAKEN and row.attempt == run.message.attempt
    return world.allow(name, why) if is_left or row.fence == run.message.fence else world


def _give_up(world: World, run: Executor, *, is_suspect: bool) -> World:
    """It becomes a dead letter."""
    letter = GivingUp(message=run.message, at="waiting", is_suspect=is_suspect)
    return evolve(world, executors=world.executors - {run}, giving_up=world.giving_up | {letter})


def _leave(world: World, run: Executor) -> World:
    """It is not deleted, and comes back."""
    return evolve(world, executors=world.executors - {run}).give_back(run.message)


def _move(world: World, run: Executor, **changes: object) -> World:
    moved = evolve(run, **changes)
    return evolve(world, executors=world.executors - {run} | {moved})


def _failed_body(run: Executor) -> tuple[str, str]:
    return name_of(run.message), f"failed {run.message.fence}"


def _next_attempt(run: Executor, row: LedgerRow) -> ExecutorMessage:
    """The message that may make the attempt of this row."""
    message = run.message
    return ExecutorMessage(
        schedule=message.schedule, nonce=message.nonce, fence=row.fence, attempt=row.attempt, generation=row.generation
    )
