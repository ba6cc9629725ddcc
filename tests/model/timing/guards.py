"""Each rule of the decision is taken out, one at a time. The search has to find what the rule prevents."""

from typing import Any, Final

from attrs import evolve

from delayer.ledger.model import LedgerChange, LedgerRow, State
from delayer.timing.rules import decide_time
from tests.model.guard import Guard
from tests.model.timing.rules import Rules
from tests.model.timing.state import Budget


def _whatever_the_row_says(schedule_id: str, owner: str, current: LedgerRow | None, *rest: Any) -> Any:
    if current is None:
        return decide_time(schedule_id, owner, None, *rest)
    change = decide_time(schedule_id, owner, evolve(current, state=State.UNDECIDED), *rest)
    assert isinstance(change, LedgerChange)
    return evolve(change, over=current)


GUARDS: Final = (
    Guard(
        name="the row is the condition",
        what="a decision that was under way is written over a cancel",
        without=Rules(conditional=False),
        possible=Budget(deletes=1),
    ),
    Guard(
        name="what has an end is not decided",
        what="a late put brings back what was cancelled",
        without=Rules(decide=_whatever_the_row_says),
        possible=Budget(deletes=1, late=1),
    ),
    Guard(
        name="what is decided is not decided again",
        what="a message that comes twice puts two schedules",
        without=Rules(decide=_whatever_the_row_says),
        possible=Budget(late=1, twins=1),
    ),
    Guard(
        name="one transaction",
        what="a function that dies in between has put nothing",
        without=Rules(one_transaction=False),
        possible=Budget(crashes=1),
    ),
    Guard(
        name="the row before the record",
        what="a cancel that dies in between leaves nothing that waits, and no end",
        without=Rules(row_first=False),
        possible=Budget(deletes=1, crashes=1),
    ),
    Guard(
        name="a cancel follows",
        what="the decided schedule fires after its cancel",
        without=Rules(follows=False),
        possible=Budget(deletes=1),
    ),
    Guard(
        name="the record before the row",
        what="a lookup finds neither, if the decision comes in between",
        without=Rules(record_first=False),
        possible=Budget(gets=1),
    ),
    Guard(
        name="the net",
        what="after a lost event it waits for ever",
        without=Rules(net=False),
        possible=Budget(lost=1),
    ),
)
