"""Decide, write, and decide again by the row that was in the way, until it is settled; each schedule by itself."""

from collections.abc import Callable, Sequence
from functools import partial

import pytest
from attrs import Factory, evolve, frozen

from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.store import Heard, SqliteStore
from delayer.engines.store.model import ItemChange
from delayer.ledger.model import LedgerChange, LedgerRow, Refuse, State
from delayer.ledger.ports import RowMissing, WriteResult
from delayer.ledger.repository import StoredLedgerInBatches
from delayer.ledger.rules import ended, ended_unclaimed
from delayer.ledger.use_cases import settle, settle_all
from delayer.schedule.instants import SECOND
from tests.looking import all_rows, put_row
from tests.samples import NOW, OWNER, a_claim, an_id
from tests.tables import Comes, in_turn, on_sqlite

ONE, OTHER, THIRD = an_id(), an_id(NOW + SECOND), an_id(NOW + 2 * SECOND)
Decide = Callable[[LedgerRow | None], LedgerChange | Refuse]


@frozen(kw_only=True)
class Rounds(StoredLedgerInBatches):
    """Remembers what was written together; others may be faster in each round."""

    rounds: list[list[str]] = Factory(list)
    meanwhile: Comes

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        self.rounds.append([change.row.schedule_id for change in changes])
        self.meanwhile()
        return super().write(changes)


def a_ledger(*others: LedgerRow | Comes, heard: Heard | None = None) -> Rounds:
    """Before each of its first rounds somebody writes a row, or does something else."""
    ledger = on_sqlite(StoredLedgerInBatches, SqliteStore(heard=heard))
    deeds = [partial(put_row, ledger, one) if isinstance(one, LedgerRow) else one for one in others]
    return Rounds(store=ledger.store, table=ledger.table, parallel=ledger.parallel, meanwhile=in_turn(*deeds))


def cancelled(schedule_id: str, current: LedgerRow | None, detail: str = "why") -> LedgerChange | Refuse:
    """Cancels it, unless it has an end."""
    if current is None:
        return LedgerChange(row=ended_unclaimed(schedule_id, OWNER, State.CANCELLED, NOW, detail))
    if current.ended:
        return Refuse(f"already {current.state}")
    return LedgerChange(row=ended(current, State.CANCELLED, NOW, detail), over=current)


def cancel(schedule_id: str, detail: str = "why") -> Decide:
    return lambda current: cancelled(schedule_id, current, detail)


def named(schedule_id: str, revision: int = 1) -> LedgerRow:
    """A row over which it can be cancelled."""
    return a_claim(schedule_id=schedule_id, state=State.SCHEDULED, revision=revision)


def test_the_change_that_was_written_is_the_outcome() -> None:
    """Without a row nothing is read beforehand."""
    ledger = a_ledger()
    outcome = settle(ledger, cancel(ONE))
    assert outcome == LedgerChange(row=all_rows(ledger)[ONE])
    assert all_rows(ledger)[ONE].state is State.CANCELLED
    assert ledger.rounds == [[ONE]]


def test_a_row_that_is_known_is_gone_by_at_once() -> None:
    ledger = a_ledger()
    put_row(ledger, named(ONE))
    outcome = settle(ledger, cancel(ONE), named(ONE))
    assert outcome == LedgerChange(row=all_rows(ledger)[ONE], over=named(ONE))
    assert ledger.rounds == [[ONE]]


def test_whatever_else_is_decided_is_not_written() -> None:
    ledger = a_ledger()
    assert settle(ledger, cancel(ONE), a_claim(state=State.EXECUTED)) == Refuse("already executed")
    assert ledger.rounds == []


def test_a_conflict_is_decided_anew_by_the_row_in_the_way() -> None:
    """As often as others are faster, until the change is written or another decision follows."""
    ledger = a_ledger(named(ONE), named(ONE, revision=2))
    outcome = settle(ledger, cancel(ONE))
    assert outcome == LedgerChange(row=all_rows(ledger)[ONE], over=named(ONE, revision=2))
    assert (all_rows(ledger)[ONE].state, all_rows(ledger)[ONE].revision) == (State.CANCELLED, 3)
    assert ledger.rounds == [[ONE]] * 3


def test_a_conflict_may_lead_to_another_decision() -> None:
    executed = a_claim(state=State.EXECUTED)
    ledger = a_ledger(executed)
    assert settle(ledger, cancel(ONE)) == Refuse("already executed")
    assert all_rows(ledger)[ONE] == executed
    assert ledger.rounds == [[ONE]]


def test_only_those_in_conflict_are_written_again() -> None:
    """All the others are settled by the first round; the outcomes are in the order of the decisions."""
    ledger = a_ledger(named(OTHER))
    outcomes = settle_all(ledger, [cancel(one) for one in (ONE, OTHER, THIRD)])
    assert ledger.rounds == [[ONE, OTHER, THIRD], [OTHER]]
    assert outcomes == [
        LedgerChange(row=all_rows(ledger)[ONE]),
        LedgerChange(row=all_rows(ledger)[OTHER], over=named(OTHER)),
        LedgerChange(row=all_rows(ledger)[THIRD]),
    ]


def test_two_copies_of_one_schedule_go_in_two_rounds() -> None:
    """The ledger takes a schedule once in a request. The second copy learns of the first by its row."""
    written: list[ItemChange] = []
    ledger = a_ledger(heard=written.extend)
    copies = [cancel(ONE, "first"), cancel(OTHER), cancel(ONE, "second"), cancel(ONE, "third")]
    outcomes = settle_all(ledger, copies)
    assert ledger.rounds[0] == [ONE, OTHER]
    assert all(len(set(one)) == len(one) for one in ledger.rounds)
    assert outcomes == [
        LedgerChange(row=all_rows(ledger)[ONE]),
        LedgerChange(row=all_rows(ledger)[OTHER]),
        Refuse("already cancelled"),
        Refuse("already cancelled"),
    ]
    assert len(written) == 2


def test_what_is_unavailable_concerns_that_one_only() -> None:
    """A row that has expired, say; it is not tried again here."""
    ledger = a_ledger()
    outcomes = settle_all(ledger, [cancel(ONE), cancel(OTHER)], [named(ONE), None])
    assert isinstance(outcomes[0], RowMissing)
    assert outcomes[1] == LedgerChange(row=all_rows(ledger)[OTHER])
    assert ledger.rounds == [[ONE, OTHER]]
    with pytest.raises(RowMissing, match="expired"):
        settle(ledger, cancel(ONE), named(ONE))


def test_an_exception_of_a_decision_concerns_that_one_only() -> None:
    """One message whose data no code can handle does not take its batch along."""

    def raises(current: LedgerRow | None) -> LedgerChange | Refuse:
        raise ZeroDivisionError

    ledger = a_ledger()
    outcomes = settle_all(ledger, [raises, cancel(OTHER)])
    assert isinstance(outcomes[0], ZeroDivisionError)
    assert outcomes[1] == LedgerChange(row=all_rows(ledger)[OTHER])
    with pytest.raises(ZeroDivisionError):
        settle(ledger, raises)


def test_an_exception_after_a_conflict_concerns_that_one_only() -> None:
    def raises(current: LedgerRow | None) -> LedgerChange | Refuse:
        assert current is None, "decided again"
        return cancelled(ONE, current)

    ledger = a_ledger(named(ONE))
    first, second = settle_all(ledger, [raises, cancel(OTHER)])
    assert isinstance(first, AssertionError)
    assert isinstance(second, LedgerChange)
    assert all_rows(ledger)[ONE] == named(ONE)


class Down:
    """Port Ledger: it does not answer at all."""

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        raise Unavailable("no connection")


def test_a_ledger_that_raises_as_a_whole_is_unavailable_for_each() -> None:
    """But what needs no write is decided all the same."""
    executed = a_claim(schedule_id=THIRD, state=State.EXECUTED)
    outcomes = settle_all(Down(), [cancel(ONE), cancel(OTHER), cancel(THIRD)], [None, None, executed])  # type: ignore[arg-type] # it has what is called
    assert [type(one) for one in outcomes] == [Unavailable, Unavailable, Refuse]
    with pytest.raises(Unavailable, match="no connection"):
        settle(Down(), cancel(ONE))  # type: ignore[arg-type] # it has what is called


def test_it_may_fail_in_a_later_round() -> None:
    """What was written before is settled, and stays."""

    def down() -> None:
        raise Unavailable("no connection")

    ledger = a_ledger(named(OTHER), down)
    first, second = settle_all(ledger, [cancel(ONE), cancel(OTHER)])
    assert first == LedgerChange(row=all_rows(ledger)[ONE])
    assert isinstance(second, Unavailable)
    assert all_rows(ledger)[OTHER] == named(OTHER)


def test_a_write_repeated_because_its_answer_was_lost_is_written() -> None:
    """The row in the way is the very one that was to be written."""
    wanted = evolve(a_claim(), schedule_id=ONE)
    ledger = a_ledger(wanted)
    assert settle(ledger, lambda current: LedgerChange(row=wanted)) == LedgerChange(row=wanted)
    assert ledger.rounds == [[ONE]]


def test_nothing_to_decide_is_no_request() -> None:
    ledger = a_ledger()
    assert settle_all(ledger, []) == []
    assert ledger.rounds == []
