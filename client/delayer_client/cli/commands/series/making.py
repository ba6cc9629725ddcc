"""`delayer series create RULE TYPE`, and `change`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from delayer_client.cli.commands.series import app, rule
from delayer_client.cli.fields import making
from delayer_client.cli.fields.types import ByType
from delayer_client.cli.options import CONTEXT, command, examples, shared, with_signature
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.reading.rules import rule as read_rule
from delayer_client.cli.reading.values import object_of

if TYPE_CHECKING:
    from delayer_client.cli.session import Session

Overlap = Annotated[
    str | None,
    typer.Option("--overlap", help="While one still runs: allow, skip, queue-one.", rich_help_panel=making.HOW),
]


def series_create(
    session: "Session",
    action: Any,
    ctx: typer.Context,
    time_zone: rule.TimeZone = None,
    anchor: rule.Anchor = None,
    from_: rule.From = None,
    until: rule.Until = None,
    count: rule.Count = None,
    on_missed: rule.OnMissed = None,
    dst_gap: rule.DstGap = None,
    dst_overlap: rule.DstOverlap = None,
    overlap: Overlap = None,
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
    """Schedule an action again and again."""
    from delayer_client.cli.showing.series import whole

    repeat = rule.RuleFlags(
        time_zone=time_zone,
        anchor=anchor,
        from_=from_,
        until=until,
        count=count,
        on_missed=on_missed,
        dst_gap=dst_gap,
        dst_overlap=dst_overlap,
    ).read(session, ctx.parent.params["rule"] if ctx.parent else "")
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
    made = session.delayer.series.create(repeat, action, name=name, overlap=one_overlap(overlap), **flags.read())
    session.output.one(made, *([] if session.as_json else whole(session, made)))


class SeriesTypes(ByType):
    """`delayer series create RULE TYPE`."""

    making = staticmethod(series_create)

    def check(self, params: Mapping[str, Any]) -> None:
        """A rule without its quotes would make a type of action out of its second field."""
        read_rule(params["rule"])

    lines = (
        "delayer series create '0 9 * * MON-FRI' http https://example.com/report --time-zone Europe/Lisbon",
        "delayer series create 15m http https://example.com/poll --overlap skip --name poll",
    )


def one_overlap(text: str | None) -> Any:
    """Raises NotRead."""
    if text not in (None, "allow", "skip", "queue-one"):
        raise NotRead(f"--overlap {text!r}: it is allow, skip or queue-one.")
    return text


def _add_types() -> None:
    """`create`."""
    text = "Schedule an action again and again: by which rule, and what."
    made = typer.Typer(name="create", cls=SeriesTypes, help=text, rich_markup_mode="rich", no_args_is_help=True)

    def callback(ctx: typer.Context, **given: Any) -> None:
        """Its flags are read by the command."""

    callback.__doc__ = text
    text_of_rule = Annotated[
        str, typer.Argument(metavar="RULE", help="A cron expression, or how often: 15m, 1d, P1M.", show_default=False)
    ]
    parameters = [CONTEXT.replace(name="rule", annotation=text_of_rule), *shared()]
    made.callback(epilog=examples(SeriesTypes.lines), subcommand_metavar="TYPE [FIELDS]…")(
        with_signature(callback, parameters, callback)
    )
    app.series.add_typer(made)


_add_types()


@command(app.series, "change", "delayer series change 7c2f9d10b4e84a01 --rule '0 8 * * MON-FRI'")
def change(
    session: "Session",
    series_id: Annotated[str, typer.Argument(metavar="ID", help="Its id.", show_default=False)],
    new_rule: Annotated[str | None, typer.Option("--rule", help="Another rule, as of `create`.")] = None,
    time_zone: rule.TimeZone = None,
    anchor: rule.Anchor = None,
    from_: rule.From = None,
    until: rule.Until = None,
    count: rule.Count = None,
    on_missed: rule.OnMissed = None,
    action: Annotated[
        str | None, typer.Option("--action", metavar="JSON", help="Another action, with its type.")
    ] = None,
    payload: making.Payload = None,
    overlap: Overlap = None,
    window: making.Window = None,
    on_late: making.OnLateFlag = None,
    precision: making.Precision = None,
    retry_attempts: making.RetryAttempts = None,
    retry_for: making.RetryFor = None,
    idempotency_key: making.Key = None,
) -> None:
    """Give a series another rule, action or payload. What is not given stays; 'none' takes a window away."""
    from delayer_client import REMOVED
    from delayer_client.cli.showing.table import details

    of_rule = {"time_zone": time_zone, "anchor": anchor, "from_": from_, "until": until, "count": count}
    if any(of_rule.values()) and not new_rule:
        raise NotRead("Give --rule, too: a rule is changed as a whole.")
    flags = making.Flags(
        payload=payload,
        window=None if window == "none" else window,
        on_late=None if on_late == "none" else on_late,
        precision=precision,
        retry_attempts=retry_attempts,
        retry_for=retry_for,
        idempotency_key=idempotency_key,
    ).read()
    repeat = rule.RuleFlags(**of_rule, on_missed=on_missed).read(session, new_rule) if new_rule else None  # type: ignore[arg-type]
    changed = session.delayer.series.change(
        series_id,
        repeat=repeat,
        action=_action(action),
        payload=flags["payload"],
        overlap=one_overlap(overlap),
        window=REMOVED if window == "none" else flags["window"],
        on_late=REMOVED if on_late == "none" else flags["on_late"],
        retry=flags["retry"],
        precision=flags["precision"],
        idempotency_key=idempotency_key,
    )
    first = changed.takes_effect_at
    rows = [
        ("Series", changed.series_id),
        ("State", changed.state),
        ("Takes effect", f"number {first.number}, {session.both(first.time)}"),
        ("Hints", "\n".join(changed.hints or ())),
    ]
    session.output.one(changed, details(rows))


def _action(text: str | None) -> Any:
    from delayer_client import Action

    if text is None:
        return None
    found = object_of(text, "--action")
    kind = found.pop("type", None)
    if not isinstance(kind, str):
        raise NotRead('--action has no field type. It is like {"type": "http-request", "url": "https://…"}.')
    return Action(kind, **found)
