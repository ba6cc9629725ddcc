"""`delayer move`."""

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from delayer_client.cli.fields import making
from delayer_client.cli.options import command
from delayer_client.cli.reading.durations import NotRead, duration
from delayer_client.cli.reading.identified import SCHEDULE, acting
from delayer_client.cli.shared import Which

if TYPE_CHECKING:
    from delayer_client.cli.session import Session


def add(app: typer.Typer) -> None:
    """Adds it."""

    @command(
        app,
        "move",
        "delayer move 040q4254sltg008000001l6ahj9egpjf6ujipdlrdnnrj7o --to '2026-12-24 18:00 Europe/Lisbon'",
        "delayer move 040q4254sltg008000001l6ahj9egpjf6ujipdlrdnnrj7o --in 2h --payload @order.json",
        panel="Schedules",
    )
    def move(
        session: "Session",
        which: Which,
        to: Annotated[str | None, typer.Option("--to", metavar="TIME", help="When it is due instead.")] = None,
        in_: Annotated[str | None, typer.Option("--in", metavar="DURATION", help="The same, from now.")] = None,
        payload: making.Payload = None,
        idempotency_key: making.Key = None,
    ) -> None:
        """Give a schedule another time, another payload, or both. It has another id then."""
        from delayer_client.cli.showing.table import details

        if to and in_:
            raise NotRead("Give --to or --in, not both.")
        if not (to or in_ or payload):
            raise NotRead("Say what is to change: --to TIME, --in DURATION, or --payload JSON.")
        calls = session.delayer
        change = partial(
            calls.change,
            at=session.moment(to) if to else None,
            delay=duration(in_) if in_ else None,
            payload=making.payload(payload),
            idempotency_key=making.key(idempotency_key),
        )
        moved = acting(SCHEDULE, which.id, which.name, change, calls.get, calls.get_named)
        rows = [("Schedule", moved.id), ("Due", session.both(moved.point_in_time)), ("Replaces", moved.replaces or "")]
        session.output.one(moved, details(rows))
