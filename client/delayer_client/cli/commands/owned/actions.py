"""`delayer actions`: what the stack can do."""

from typing import TYPE_CHECKING, Annotated

import typer

from delayer_client.cli.fields.schema import fields
from delayer_client.cli.fields.types import actions as types_of
from delayer_client.cli.fields.types import named
from delayer_client.cli.options import command, group
from delayer_client.cli.showing.table import Column, folding, table
from delayer_client.cli.showing.texts import strong

if TYPE_CHECKING:
    from delayer_client.cli.session import Session


def add(app: typer.Typer) -> None:
    """Adds them."""
    actions = group("actions", "Types of action that the stack takes.")

    @command(actions, "list", "delayer actions list")
    def list_(session: "Session") -> None:
        """List the types of action: those that Delayer has, and those of your team."""
        found = session.delayer.actions()
        columns = [
            Column(title="TYPE", cells=[one.type for one in found], rank=0),
            Column(title="STACK", cells=[one.stack for one in found], rank=2),
            folding("WHAT", [str(one.schema.get("description", "")) for one in found], 20),
        ]
        if session.as_json:
            session.output.objects(found)
        else:
            session.output.show(table(session.console, columns))

    @command(actions, "show", "delayer actions show http")
    def show(
        session: "Session",
        kind: Annotated[str, typer.Argument(metavar="TYPE", help="A type of action.", show_default=False)],
    ) -> None:
        """Show the fields of a type. With --json, its JSON Schema."""
        known = types_of(session)
        action = known[named(kind, known)]
        found = fields(action.schema, frozenset())
        columns = [
            Column(title="FIELD", cells=[one.name for one in found], rank=0),
            Column(title="FLAG", cells=[one.flags[0] for one in found], rank=0),
            folding("WHAT", [one.help for one in found], 20),
        ]
        session.output.one(action, strong(action.type), table(session.console, columns))

    app.add_typer(actions, rich_help_panel="Yours")
