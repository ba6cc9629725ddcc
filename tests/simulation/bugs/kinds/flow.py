"""Bugs of schedules that wait although they are due."""

from typing import Any

from attrs import evolve

from delayer.actions.rules.model import Retry
from delayer.execute import execute
from delayer.execute import rules as executing
from delayer.flow.rules import comeback
from delayer.flow.rules.block import BlockKind
from delayer.flow.rules.gate import Go, Later, Probe, decide_gate
from delayer.flow.use_cases import gate, view
from delayer.flow.use_cases.breaker import Breaker
from delayer.ledger.model import LedgerRow
from delayer.ledger.rules import hopped, retried
from delayer.relay import relay
from delayer.relay.relay import Successors
from delayer.schedule.instants import DAY
from tests.simulation.bugs.bug import Bug, never
from tests.simulation.oracle.invariant import Invariant

_decide_too_old = executing.decide_too_old
_decide_later = executing.decide_later
_enter = execute.Execute.enter
_probed = Breaker.probed
_lined_up = relay.Relay.lined_up
FOR_EVER = 100 * DAY


def _only_its_delay(message: Any, row: LedgerRow, later: Any, now: Any) -> Any:
    return _decide_later(message, row, None, now)


def _always_open(self: Any, held: Any, row: LedgerRow) -> Any:
    return Go(message=held.message, at=0)


def _has_waited(row: LedgerRow) -> bool:
    return bool(row.retry_of) and row.attempt == 1


def _once(message: Any, row: LedgerRow, later: Any, now: Any) -> Any:
    return None if _has_waited(row) else _decide_later(message, row, later, now)


def _open_the_second_time(self: Any, held: Any, row: LedgerRow) -> Any:
    return _always_open(self, held, row) if _has_waited(row) else _enter(self, held, row)


def _only_in_line(self: Any, due: Any, now: Any) -> Any:
    decisions = _lined_up(self, due, now)
    waits = [key for key, one in decisions.items() if isinstance(one, Later) and one.why and not one.why.every]
    return decisions | {key: Go(message=due[key], at=due[key].schedule.point_in_time) for key in waits}


def _with_its_old_token(row: LedgerRow, fence: str, now: Any, after: str, retry_at: Any = 0) -> LedgerRow:
    return evolve(hopped(row, fence, now, after, retry_at), fence=after if retry_at else fence)


def _as_an_attempt(row: LedgerRow, fence: str, now: Any, after: str, retry_at: Any = 0) -> LedgerRow:
    return evolve(hopped(row, fence, now, after, retry_at), attempt=row.attempt + bool(retry_at))


def _all_probe(*asked: Any) -> Any:
    decision = decide_gate(*asked)
    return None if isinstance(decision, Probe) else decision


def _closed_by_any_probe(self: Any, circuit: Any, result: Any) -> None:
    if self.blocks.remove(circuit):
        self.gate.view.forget(circuit)


def _uses_up_an_attempt(*given: Any, **named: Any) -> LedgerRow:
    return retried(*given, **{**named, "is_probe": False})


def _all_at_once(self: Any, circuit: Any, result: Any) -> None:
    if isinstance(result, Retry) and result.is_outage:
        _probed(self, circuit, result)
    else:
        _closed_by_any_probe(self, circuit, result)


def _as_it_is(block: Any, *_: Any) -> Any:
    return block


def _also_for_a_suspension(message: Any, row: LedgerRow, block: Any, policy: Any, now: Any) -> Any:
    return _decide_too_old(message, row, evolve(block, kind=BlockKind.CIRCUIT), policy, now)


def _at_once(message: Any, row: LedgerRow, block: Any, policy: Any, now: Any) -> Any:
    return _also_for_a_suspension(message, row, block, evolve(policy, max_age=0), now)


BUGS = (
    Bug(
        name="gate-not-asked-again",
        what="only the relay asks whether a target is suspended, or its circuit open",
        breaks=Invariant.WAITS,
        swaps=((executing, "decide_later", _only_its_delay), (execute.Execute, "enter", _always_open)),
    ),
    Bug(
        name="claimed-and-waits",
        what="the relay does not ask; its executor does, and what waits there is claimed, so that nobody can cancel it",
        breaks=Invariant.WAITS,
        swaps=((relay.Relay, "lined_up", _only_in_line),),
    ),
    Bug(
        name="waits-with-its-old-token",
        what="a message that waits is sent once more with the same token",
        breaks=Invariant.ONCE,
        swaps=((execute, "hopped", _with_its_old_token),),
    ),
    Bug(
        name="wait-is-an-attempt",
        what="to wait counts as an attempt",
        breaks=Invariant.RETRIES,
        swaps=((execute, "hopped", _as_an_attempt),),
    ),
    Bug(
        name="all-probe",
        what="when the pause of a circuit is over, whatever is due reaches the target",
        breaks=Invariant.WAITS,
        swaps=((gate, "decide_gate", _all_probe),),
    ),
    Bug(
        name="any-probe-closes",
        what="a circuit is closed by a probe that fails",
        breaks=Invariant.WAITS,
        swaps=((Breaker, "probed", _closed_by_any_probe),),
    ),
    Bug(
        name="probe-is-an-attempt",
        what="a probe that fails uses up an attempt of its schedule",
        breaks=Invariant.RETRIES,
        whose="Delayer, until a target was down for hours",
        swaps=((execute, "retried", _uses_up_an_attempt),),
    ),
    Bug(
        name="all-come-at-once",
        what="a probe that is answered closes the circuit",
        breaks=Invariant.WAITS,
        whose="Delayer, until a target was down for hours",
        swaps=((Breaker, "probed", _all_at_once),),
    ),
    Bug(
        name="pace-never-grows",
        what="what has waited comes back at the pace at which it began",
        breaks=Invariant.WAITS,
        swaps=((comeback, "faster", _as_it_is),),
    ),
    Bug(
        name="waits-once",
        what="what has waited once is attempted when it comes again, suspended or not",
        breaks=Invariant.WAITS,
        swaps=((executing, "decide_later", _once), (execute.Execute, "enter", _open_the_second_time)),
    ),
    Bug(
        name="age-of-a-suspension",
        what="what waits because of a suspension fails when its `maxAgeSeconds` are over",
        breaks=Invariant.ONE_END,
        swaps=((executing, "decide_too_old", _also_for_a_suspension),),
    ),
    Bug(
        name="given-up-at-once",
        what="what waits after its claim is given up",
        breaks=Invariant.ONE_END,
        swaps=((executing, "decide_too_old", _at_once),),
    ),
    Bug(
        name="blocks-read-once",
        what="an environment reads the list of suspensions once, and goes by that for as long as it lives",
        breaks=Invariant.WAITS,
        swaps=((view, "FRESH_FOR", FOR_EVER),),
    ),
    Bug(
        name="more-and-more-wait",
        what="each of two messages that wait unclaimed is sent again, so that they become four, and eight",
        breaks=Invariant.COST,
        whose="Delayer, until the simulation found it",
        swaps=((Successors, "has_successor", never),),
    ),
)
