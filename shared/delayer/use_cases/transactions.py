"""The transactions of the registry: what a name adds to one, and how often one is tried."""

from typing import Final

from attrs import evolve

from delayer.core.ledger.row import named
from delayer.core.schedule.instants import Millis
from delayer.ports.registry import NameRow, ScheduleTransaction

ROUNDS: Final = 5  # tries against others who change the same name, key or schedule


def with_name(transaction: ScheduleTransaction, name: str, holder: NameRow | None, now: Millis) -> ScheduleTransaction:
    """The new schedule takes the name from `holder`, if any, and has a ledger row from the start (ADR 0041)."""
    new = transaction.put
    return evolve(
        transaction,
        put_row=named(new.id, new.owner, name, now),
        put_name=NameRow(owner=new.owner, name=name, schedule_id=new.id),
        over_name=holder,
    )
