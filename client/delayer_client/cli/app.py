"""All commands of `delayer`."""

from typing import Annotated, Any

import typer

from delayer_client.cli.commands import operators, owned, schedules, series, serving
from delayer_client.cli.options import CONTEXT, InOrder, examples, with_signature
from delayer_client.cli.shared import shared

HELP = "Schedule what is to be done, and when; look at it, move it, cancel it. For scripts: --json."
EXAMPLES = (
    "delayer schedule http https://example.com/hook --in 10m --payload '{\"order\": 17}' --wait",
    "delayer watch",
)


def show_version(wanted: bool) -> None:
    """Prints it, and ends."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"delayer {version('delayer-client')}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", help="Print the version.", callback=show_version, is_eager=True, expose_value=False)
]


def _callback(ctx: typer.Context, **given: Any) -> None:
    """Its flags are read by the commands."""


def make() -> typer.Typer:
    """The command with all its commands."""
    app = typer.Typer(
        name="delayer",
        cls=InOrder,
        help=HELP,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    version = CONTEXT.replace(name="version", annotation=Version, default=False)
    app.callback(help=HELP, epilog=examples(EXAMPLES))(with_signature(_callback, [version, *shared()], _callback))
    for add in (*schedules.ALL, *series.ALL, *owned.ALL, *serving.ALL, *operators.ALL):
        add(app)
    return app


app = make()
