"""`delayer schedule TYPE` and `delayer replace NAME TYPE`."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from delayer_client.cli.commands.schedules.waiting import wait
from delayer_client.cli.commands.schedules.when import DueFlags
from delayer_client.cli.fields import making
from delayer_client.cli.fields.types import ByType
from delayer_client.cli.options import CONTEXT, examples, with_signature
from delayer_client.cli.shared import shared

if TYPE_CHECKING:
    from delayer_client import Schedule
    from delayer_client.cli.session import Session


def schedule(
    session: "Session", action: Any, when: DueFlags, flags: making.MadeFlags, name: making.Name = None
) -> None:
    """Schedule an action."""
    limit = when.limit()
    made = session.delayer.schedule(action, name=name, **when.due(session), **flags.read())
    shown(session, made, when, limit)


class ScheduleTypes(ByType):
    """`delayer schedule TYPE`."""

    making = staticmethod(schedule)
    lines = (
        "delayer schedule http https://example.com/hook --in 10m --payload '{\"order\": 17}' --wait",
        "delayer schedule http https://example.com/hook --at 'tomorrow 09:00 Europe/Lisbon' --header 'X-Team: blue'",
        "delayer schedule sqs --queue-url https://sqs.eu-west-1.amazonaws.com/123456789012/jobs --in 1h --group jobs",
    )


def replace(
    session: "Session",
    action: Any,
    ctx: typer.Context,
    when: DueFlags,
    flags: making.MadeFlags,
    only_new: Annotated[bool, typer.Option("--only-new", help="Leave a live one alone.")] = False,
) -> None:
    """Schedule an action under a name."""
    name = ctx.parent.params["name"] if ctx.parent else ""
    moment, limit = when.due(session), when.limit()
    made = session.delayer.replace(name, action, only_new=only_new, **moment, **flags.read())
    shown(session, made, when, limit)


class ReplaceTypes(ByType):
    """`delayer replace NAME TYPE`."""

    making = staticmethod(replace)
    lines = ("delayer replace trial-17 http https://example.com/trial-ends --in 14d",)


def shown(session: "Session", made: "Schedule", when: DueFlags, limit: timedelta | None) -> None:
    """Shows the schedule that was made."""
    from delayer_client.cli.showing.table import details

    wait_for_end = when.wait_for_end or limit is not None
    for hint in made.hints or ():
        session.output.note(hint)
    if session.as_json:
        session.output.objects([] if wait_for_end else [made])
    else:
        time = session.both(made.point_in_time) or "when its policy has decided"
        rows = [("Schedule", made.id), ("Due", time), ("Replaces", made.replaces or "")]
        session.output.show(details(rows))
    if wait_for_end:
        wait(session, made, limit)


def add(app: typer.Typer) -> None:
    """Adds both."""
    _group(app, "schedule", "Schedule an action: what, and when. The types are those of your stack.", ScheduleTypes, [])
    name = Annotated[str, typer.Argument(metavar="NAME", help="The name.", show_default=False)]
    text = "Schedule an action under a name, in the place of what has it: at most one of them fires."
    _group(app, "replace", text, ReplaceTypes, [CONTEXT.replace(name="name", annotation=name)])


def _group(app: typer.Typer, name: str, text: str, kind: type[ByType], own: list[Any]) -> None:
    made = typer.Typer(
        name=name, cls=kind, help=text, epilog=examples(kind.lines), rich_markup_mode="rich", no_args_is_help=True
    )

    def callback(ctx: typer.Context, **given: Any) -> None:
        """Its flags are read by the command."""

    callback.__doc__ = text
    made.callback(epilog=examples(kind.lines), subcommand_metavar="TYPE [FIELDS]…")(
        with_signature(callback, [*own, *shared()], callback)
    )
    app.add_typer(made, rich_help_panel="Schedules")
