"""Commands about series."""

import typer

from delayer_client.cli.commands.series import looking, making, steering
from delayer_client.cli.commands.series.app import series

assert all((looking, making, steering))  # each adds its commands to the group when it is imported


def add(app: typer.Typer) -> None:
    """Adds the group."""
    app.add_typer(series, rich_help_panel="Schedules")


ALL = (add,)
