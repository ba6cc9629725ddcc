"""`delayer series list`, `get`, `next`, `preview`, `occurrences`."""

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from delayer_client.cli.commands.schedules.looking import SHOWN, state_of
from delayer_client.cli.commands.schedules.looking import states as states_of_schedules
from delayer_client.cli.commands.series import app, rule
from delayer_client.cli.options import command
from delayer_client.cli.reading.identified import SERIES, acting, by_id_or_name
from delayer_client.cli.showing import schedules, series
from delayer_client.states import fits

if TYPE_CHECKING:
    from delayer_client.api.models import Times
    from delayer_client.cli.session import Session

Value = TypeVar("Value")
Id = Annotated[str | None, typer.Argument(metavar="ID", help="Its id, or its name.", show_default=False)]
ByName = Annotated[str | None, typer.Option("--name", "-n", help="It is a name, also if it looks like an id.")]
Limit = Annotated[int | None, typer.Option("--limit", "-l", metavar="N", min=1, help="At most so many.")]
Number = Annotated[int | None, typer.Option("--count", metavar="N", help="So many; 10 otherwise.")]


def states(incomplete: str) -> list[str]:
    """For completion."""
    return [state for state in series.STATES if state.startswith(incomplete)]


def on(session: "Session", series_id: str | None, name: str | None, call: Callable[[str], Value]) -> Value:
    """A call about one series, by its id or by its name. Raises NotRead, NotFound."""
    calls = session.delayer.series
    return acting(SERIES, series_id, name, call, calls.get, calls.get_named)


def _times(session: "Session", found: "Times") -> None:
    session.output.one(found, found.description, series.times(session, found.times))


@command(app.series, "list", "delayer series list --group reports --state active")
def list_(
    session: "Session",
    group: Annotated[str | None, typer.Option("--group", "-g", help="Only those of this group.")] = None,
    state: Annotated[
        str | None, typer.Option("--state", help="Only those in this state.", autocompletion=states)
    ] = None,
    limit: Limit = None,
) -> None:
    """List series."""
    wanted = limit or (None if session.as_json else SHOWN)
    found = islice(session.delayer.series.list(group=group, state=state), wanted)
    if session.as_json:
        session.output.objects(found)
    elif some := list(found):
        session.output.show(series.list_of(session, some))
    else:
        session.output.note("There are none.")


@command(app.series, "get", "delayer series get --name poll")
def get(session: "Session", series_id: Id = None, name: ByName = None) -> None:
    """Show one series."""
    calls = session.delayer.series
    found = by_id_or_name(SERIES, series_id, name, calls.get, calls.get_named)
    session.output.one(found, *([] if session.as_json else series.whole(session, found)))


@command(app.series, "next", "delayer series next --name poll --count 5")
def next_(session: "Session", series_id: Id = None, name: ByName = None, count: Number = None) -> None:
    """Show the next times of a series."""
    _times(session, on(session, series_id, name, lambda one: session.delayer.series.next(one, count)))


@command(app.series, "preview", "delayer series preview '0 9 * * MON-FRI' --time-zone Europe/Lisbon")
def preview(
    session: "Session",
    text: Annotated[str, typer.Argument(metavar="RULE", help="As of `create`.", show_default=False)],
    time_zone: rule.TimeZone = None,
    anchor: rule.Anchor = None,
    from_: rule.From = None,
    until: rule.Until = None,
    count: Number = None,
) -> None:
    """Show the next times of a rule. Nothing is stored."""
    flags = rule.RuleFlags(time_zone=time_zone, anchor=anchor, from_=from_, until=until)
    _times(session, session.delayer.series.preview(flags.read(session, text), count))


@command(app.series, "occurrences", "delayer series occurrences --name poll --state failed")
def occurrences(
    session: "Session",
    series_id: Id = None,
    name: ByName = None,
    state: Annotated[
        str | None, typer.Option("--state", help="Only those in this state.", autocompletion=states_of_schedules)
    ] = None,
    limit: Limit = None,
) -> None:
    """List the occurrences of a series, the latest first."""
    wanted = limit or (None if session.as_json else SHOWN)
    which = by_id_or_name(SERIES, series_id, name, session.delayer.series.get, session.delayer.series.get_named).id
    listed = session.delayer.series.occurrences(which, state=state_of(state))
    found = islice((one for one in listed if fits(one, state)), wanted)
    if session.as_json:
        session.output.objects(found)
    elif some := list(found):
        session.output.show(schedules.list_of(session, some))
    else:
        session.output.note("There are none.")
