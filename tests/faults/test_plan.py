"""The faults themselves: a list of changes is as many requests, and each fares on its own."""

import pytest

from delayer.engines.ports import Unavailable
from delayer.ledger.model import LedgerChange
from delayer.ledger.ports import Written
from delayer.ledger.repository import StoredLedgerInBatches
from tests.fakes.faults import Crash, Fault, FaultPlan, faulty
from tests.looking import all_rows
from tests.samples import NOW, a_claim
from tests.tables import on_sqlite

ROWS = [a_claim(due=NOW + number) for number in range(3)]
CHANGES = [LedgerChange(row=row) for row in ROWS]


@pytest.mark.parametrize("at", range(3))
def test_the_neighbours_of_a_failed_change_are_written(at: int) -> None:
    ledger, plan = on_sqlite(StoredLedgerInBatches), FaultPlan(Fault.BEFORE, at)
    results = faulty(ledger, plan).write(CHANGES)
    assert len(plan.seen) == 3
    assert isinstance(results[at], Unavailable)
    assert [result for number, result in enumerate(results) if number != at] == [Written(), Written()]
    assert set(all_rows(ledger)) == {row.schedule_id for number, row in enumerate(ROWS) if number != at}


@pytest.mark.parametrize("at", range(3))
def test_a_function_may_die_between_two_changes(at: int) -> None:
    ledger, plan = on_sqlite(StoredLedgerInBatches), FaultPlan(Fault.CRASH_AFTER, at)
    with pytest.raises(Crash):
        faulty(ledger, plan).write(CHANGES)
    assert set(all_rows(ledger)) == {row.schedule_id for row in ROWS[: at + 1]}
