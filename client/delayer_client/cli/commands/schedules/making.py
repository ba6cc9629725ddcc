"""`delayer schedule TYPE` and `delayer replace NAME TYPE`."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from delayer_client.cli.commands.schedules import when as due
from delayer_client.cli.commands.schedules.waiting import wait
from delayer_client.cli.fields import making
from delayer_client.cli.fields.types import ByType
from delayer_client.cli.options import CONTEXT, examples, shared, with_signature
from delayer_client.cli.reading.durations import duration

if TYPE_CHECKING:
    from delayer_client import Schedule
    from delayer_client.cli.session import Session

Wait = Annotated[bool, typer.Option("--wait", "-w", help="Wait for its end.", rich_help_panel=due.PANEL)]
Timeout = Annotated[
    str | None,
    typer.Option("--timeout", metavar="DURATION", help="Wait no longer than that.", rich_help_panel=due.PANEL),
]


def schedule(
    session: "Session",
    action: Any,
    in_: due.In = None,
    at: due.At = None,
    when: due.When = None,
    wait_for_end: Wait = False,
    timeout: Timeout = None,
    payload: making.Payload = None,
    name: making.Name = None,
    group: making.Group = None,
    tag: making.Tag = None,
    window: making.Window = None,
    precision: making.Precision = None,
    on_late: making.OnLateFlag = None,
    retry_attempts: making.RetryAttempts = None,
    retry_for: making.RetryFor = None,
    retry_first: making.RetryFirst = None,
    retry_factor: making.RetryFactor = None,
    retry_max: making.RetryMax = None,
    idempotency_key: making.Key = None,
) -> None:
    """Schedule an action."""
    flags = making.Flags(
        payload=payload,
        group=group,
        tag=tag,
        window=window,
        precision=precision,
        on_late=on_late,
        retry_attempts=retry_attempts,
        retry_for=retry_for,
        retry_first=retry_first,
        retry_factor=retry_factor,
        retry_max=retry_max,
        idempotency_key=idempotency_key,
    )
    limit = duration(timeout) if timeout else None
    made = session.delayer.schedule(action, name=name, **due.due(session, in_, at, when), **flags.read())
    shown(session, made, wait_for_end=wait_for_end or bool(timeout), limit=limit)


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
    in_: due.In = None,
    at: due.At = None,
    when: due.When = None,
    only_new: Annotated[bool, typer.Option("--only-new", help="Leave a live one alone.")] = False,
    wait_for_end: Wait = False,
    timeout: Timeout = None,
    payload: making.Payload = None,
    group: making.Group = None,
    tag: making.Tag = None,
    window: making.Window = None,
    precision: making.Precision = None,
    on_late: making.OnLateFlag = None,
    retry_attempts: making.RetryAttempts = None,
    retry_for: making.RetryFor = None,
    retry_first: making.RetryFirst = None,
    retry_factor: making.RetryFactor = None,
    retry_max: making.RetryMax = None,
    idempotency_key: making.Key = None,
) -> None:
    """Schedule an action under a name."""
    flags = making.Flags(
        payload=payload,
        group=group,
        tag=tag,
        window=window,
        precision=precision,
        on_late=on_late,
        retry_attempts=retry_attempts,
        retry_for=retry_for,
        retry_first=retry_first,
        retry_factor=retry_factor,
        retry_max=retry_max,
        idempotency_key=idempotency_key,
    )
    name = ctx.parent.params["name"] if ctx.parent else ""
    moment = due.due(session, in_, at, when)
    limit = duration(timeout) if timeout else None
    made = session.delayer.replace(name, action, only_new=only_new, **moment, **flags.read())
    shown(session, made, wait_for_end=wait_for_end or bool(timeout), limit=limit)


class ReplaceTypes(ByType):
    """`delayer replace NAME TYPE`."""

    making = staticmethod(replace)
    lines = ("delayer replace trial-17 http https://example.com/trial-ends --in 14d",)


def shown(session: "Session", made: "Schedule", *, wait_for_end: bool, limit: timedelta | None) -> None:
    """What was made."""
    from delayer_client.cli.showing.table import details

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
