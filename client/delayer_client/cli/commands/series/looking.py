"""`delayer series list`, `get`, `next`, `preview`, `occurrences`."""

from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from delayer_client.cli.commands.schedules.looking import Retried, state_of
from delayer_client.cli.commands.schedules.looking import states as states_of_schedules
from delayer_client.cli.commands.series import app, rule
from delayer_client.cli.options import command
from delayer_client.cli.reading.identified import SERIES, acting, by_id_or_name
from delayer_client.cli.shared import SHOWN, Limit, OfGroup, Which
from delayer_client.cli.showing import schedules, series
from delayer_client.states import is_retried

if TYPE_CHECKING:
    from delayer_client.api.models import Times
    from delayer_client.cli.session import Session

Value = TypeVar("Value")
Number = Annotated[int | None, typer.Option("--count", metavar="N", help="So many; 10 otherwise.")]


def states(incomplete: str) -> list[str]:
    """For completion."""
    return [state for state in series.STATES if state.startswith(incomplete)]


def on(session: "Session", which: Which, call: Callable[[str], Value]) -> Value:
    """A call about one series, by its id or by its name. Raises NotRead, NotFound."""
    calls = session.delayer.series
    return acting(SERIES, which.id, which.name, call, calls.get, calls.get_named)


def _times(session: "Session", found: "Times") -> None:
    session.output.one(found, found.description, series.times(session, found.times))


@command(app.series, "list", "delayer series list --group reports --state active")
def list_(
    session: "Session",
    group: OfGroup = None,
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
def get(session: "Session", which: Which) -> None:
    """Show one series."""
    calls = session.delayer.series
    found = by_id_or_name(SERIES, which.id, which.name, calls.get, calls.get_named)
    session.output.one(found, *([] if session.as_json else series.whole(session, found)))


@command(app.series, "next", "delayer series next --name poll --count 5")
def next_(session: "Session", which: Which, count: Number = None) -> None:
    """Show the next times of a series."""
    _times(session, on(session, which, lambda one: session.delayer.series.next(one, count)))


@command(app.series, "preview", "delayer series preview '0 9 * * MON-FRI' --time-zone Europe/Lisbon")
def preview(
    session: "Session",
    text: Annotated[str, typer.Argument(metavar="RULE", help="As of `create`.", show_default=False)],
    flags: rule.TimesFlags,
    count: Number = None,
) -> None:
    """Show the next times of a rule. Nothing is stored."""
    _times(session, session.delayer.series.preview(flags.read(session, text), count))


@command(app.series, "occurrences", "delayer series occurrences --name poll --state failed")
def occurrences(
    session: "Session",
    which: Which,
    state: Annotated[
        str | None, typer.Option("--state", help="Only those in this state.", autocompletion=states_of_schedules)
    ] = None,
    retried: Retried = False,
    limit: Limit = None,
) -> None:
    """List the occurrences of a series, the latest first."""
    wanted = limit or (None if session.as_json else SHOWN)
    calls = session.delayer.series
    series_id = by_id_or_name(SERIES, which.id, which.name, calls.get, calls.get_named).id
    listed = calls.occurrences(series_id, state=state_of(state, retried=retried))
    found = islice((one for one in listed if is_retried(one) or not retried), wanted)
    if session.as_json:
        session.output.objects(found)
    elif some := list(found):
        session.output.show(schedules.list_of(session, some))
    else:
        session.output.note("There are none.")
