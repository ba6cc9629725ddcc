"""Commands about series."""

import typer

from delayer_client.cli.commands.series import looking, making, steering
from delayer_client.cli.options import group


def add(app: typer.Typer) -> None:
    """Adds the group."""
    series = group("series", "Series: schedules that are repeated by a rule.")
    for one in (making.add, looking.add, steering.add):
        one(series)
    app.add_typer(series, rich_help_panel="Schedules")


ALL = (add,)
