"""`delayer signing-secret`: what receivers verify requests with."""

from typing import TYPE_CHECKING, Annotated

import typer

from delayer_client.cli.options import command, group
from delayer_client.cli.reading.durations import duration
from delayer_client.cli.shared import Yes
from delayer_client.cli.showing.table import details

if TYPE_CHECKING:
    from delayer_client.api.models import SigningSecret
    from delayer_client.cli.session import Session


def _show(session: "Session", found: "SigningSecret") -> None:
    rows = [
        ("Current", found.current),
        ("Previous", found.previous or ""),
        ("It signs until", session.both(found.previous_until)),
        ("Rotated", session.both(found.rotated_at)),
    ]
    session.output.one(found, details(rows))


def add(app: typer.Typer) -> None:
    """Adds them."""
    secret = group("signing-secret", "The secret that signs your requests.")

    @command(secret, "show", "delayer signing-secret show")
    def show(session: "Session") -> None:
        """Show the secret that receivers verify requests with."""
        _show(session, session.delayer.signing_secret())

    @command(secret, "rotate", "delayer signing-secret rotate --overlap 2d --yes")
    def rotate(
        session: "Session",
        overlap: Annotated[
            str | None, typer.Option("--overlap", metavar="DURATION", help="So long the old one signs, too: 1d.")
        ] = None,
        yes: Yes = False,
    ) -> None:
        """Make a new secret. The one before signs, too, for the overlap."""
        length = duration(overlap) if overlap else None
        session.agreed("Make a new secret? Receivers need it before the overlap ends.", yes)
        _show(session, session.delayer.rotate_signing_secret(length))

    app.add_typer(secret, rich_help_panel="Yours")
