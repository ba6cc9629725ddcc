"""Gives a schedule a name: what creating, replacing and cancelling by name share (ADR 0042)."""

from typing import Final

from attrs import evolve

from delayer.core.instants import Millis
from delayer.core.ledger import named
from delayer.ports import Exchange, NameRow

ROUNDS: Final = 5  # tries against others who change the same name, key or schedule


def with_name(exchange: Exchange, name: str, bearer: NameRow | None, now: Millis) -> Exchange:
    """The new schedule gets the name, whoever bore it, and a ledger row from the start (ADR 0042)."""
    new = exchange.new
    return evolve(
        exchange,
        begun=named(new.id, new.owner, name, now),
        name=NameRow(owner=new.owner, name=name, schedule_id=new.id),
        name_over=bearer,
    )
