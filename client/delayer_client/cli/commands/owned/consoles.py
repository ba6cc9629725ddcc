"""`delayer console`: the console in a browser."""

from typing import TYPE_CHECKING, Annotated

import typer

from delayer_client.cli.extras import needing
from delayer_client.cli.options import command
from delayer_client.cli.shared import OF_BOTH

if TYPE_CHECKING:
    from delayer_client.cli.session import Session


def add(app: typer.Typer) -> None:
    """Adds it."""

    @command(
        app, "console", "delayer console", "delayer console --profile work --port 8765", panel="Yours", takes=OF_BOTH
    )
    def console(
        session: "Session",
        port: Annotated[int, typer.Option("--port", metavar="N", help="On this machine only; 0: a free one.")] = 0,
        open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open a browser.")] = True,
    ) -> None:
        """Serve the console for a stack on this machine. Ctrl-C ends it."""
        with needing("console"):
            from delayer_client.console import serve

        serve(
            url=session.url,
            credentials=session.credentials,
            owner=session.settings.owner or None,
            port=port,
            open_browser=open_browser,
            stack=session.settings.stack or "delayer",
            profile=session.settings.aws_profile,
            region=session.settings.aws_region,
            say=session.output.say,
        )
