"""`delayer series create RULE TYPE`, and `change`."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer
from attrs import evolve

from delayer_client.cli.commands.series import app, rule
from delayer_client.cli.commands.series.looking import on
from delayer_client.cli.fields import making
from delayer_client.cli.fields.types import ByType
from delayer_client.cli.options import CONTEXT, command, examples, with_signature
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.reading.identified import SERIES, by_id_or_name
from delayer_client.cli.reading.rules import rule as read_rule
from delayer_client.cli.reading.values import members_of
from delayer_client.cli.shared import Which, shared

if TYPE_CHECKING:
    from delayer_client import Repeat, Series
    from delayer_client.api.models import SeriesChanged
    from delayer_client.cli.session import Session

Overlap = Annotated[
    str | None,
    typer.Option("--overlap", help="While one still runs: allow, skip, queue-one.", rich_help_panel=making.HOW),
]


def series_create(
    session: "Session",
    action: Any,
    ctx: typer.Context,
    repeat: rule.RuleFlags,
    flags: making.MadeFlags,
    overlap: Overlap = None,
    name: making.Name = None,
) -> None:
    """Schedule an action again and again."""
    from delayer_client.cli.showing.series import whole

    read = repeat.read(session, ctx.parent.params["rule"] if ctx.parent else "")
    made = session.delayer.series.create(read, action, name=name, overlap=one_overlap(overlap), **flags.read())
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


@command(
    app.series,
    "change",
    "delayer series change 7c2f9d10b4e84a01 --rule '0 8 * * MON-FRI'",
    "delayer series change 7c2f9d10b4e84a01 --until 'in 30d' --retry-attempts 3",
)
def change(
    session: "Session",
    which: Which,
    of_rule: rule.RuleFlags,
    flags: making.Flags,
    new_rule: Annotated[str | None, typer.Option("--rule", help="Another rule, as of `create`.")] = None,
    action: Annotated[
        str | None, typer.Option("--action", metavar="JSON", help="Another action, with its type.")
    ] = None,
    overlap: Overlap = None,
) -> None:
    """Give a series another rule, action or payload. What is not given stays.

    'none' takes away a window, a rule for lateness, an anchor, a begin or an end.
    """
    from delayer_client import REMOVED

    removed = {name: REMOVED for name in ("window", "on_late") if getattr(flags, name) == "none"}
    read: dict[str, Any] = {**evolve(flags, **dict.fromkeys(removed)).read(), **removed}
    given: dict[str, Any] = {"action": _action(action), "overlap": one_overlap(overlap)}
    changes_rule = bool(new_rule or of_rule.are_given)
    # The API takes a rule, and a retry, as a whole: what is not given is that of the series.
    before = _series(session, which) if changes_rule or read["retry"] else None
    if before:
        which = Which(id=before.id)
    if before and changes_rule:
        given["repeat"] = of_rule.changed(session, new_rule, _repeat_of(before))
    read["retry"] = making.merged(read["retry"], before.retry if before else None)
    change_it = partial(session.delayer.series.change, **read, **given)
    _show_changed(session, on(session, which, change_it), given.get("repeat"))


def _series(session: "Session", which: Which) -> "Series":
    calls = session.delayer.series
    return by_id_or_name(SERIES, which.id, which.name, calls.get, calls.get_named)


def _repeat_of(series: "Series") -> "Repeat":
    if series.repeat is None:
        raise NotRead("The rule of this series is not known, so it cannot be changed.")
    return series.repeat


def _show_changed(session: "Session", changed: "SeriesChanged", repeat: "Repeat | None") -> None:
    from delayer_client.cli.showing.schedules import text_of
    from delayer_client.cli.showing.table import details

    first = changed.takes_effect_at
    rows = [
        ("Series", changed.series_id),
        ("State", changed.state),
        ("Repeat", text_of(repeat.as_json()) if repeat else ""),
        ("Takes effect", f"number {first.number}, {session.both(first.time)}"),
        ("Hints", "\n".join(changed.hints or ())),
    ]
    session.output.one(changed, details(rows))


def _action(text: str | None) -> Any:
    from delayer_client import Action

    if text is None:
        return None
    found = members_of(text, "--action")
    kind = found.pop("type", None)
    if not isinstance(kind, str):
        raise NotRead('--action has no field type. It is like {"type": "http-request", "url": "https://…"}.')
    return Action(kind, **found)
