"""`delayer series cancel`, `pause`, `resume`, `run-now`, `backfill`."""

from typing import TYPE_CHECKING, Annotated

import typer

from delayer_client.cli.commands.series import app
from delayer_client.cli.commands.series.looking import on
from delayer_client.cli.exits import Exit
from delayer_client.cli.options import command
from delayer_client.cli.refusals import Failed
from delayer_client.cli.shared import Which
from delayer_client.cli.showing.series import halted
from delayer_client.cli.showing.table import details
from delayer_client.cli.showing.words import number

if TYPE_CHECKING:
    from delayer_client.api.models import SeriesHalted
    from delayer_client.cli.session import Session


def _halted(session: "Session", found: "SeriesHalted") -> None:
    """Shows it. Raises Failed if an occurrence may still be handed over."""
    session.output.one(found, *halted(found))
    running = [one for one in found.claimed if one.stop]
    if running:
        raise Failed(
            f"{number(len(running), 'occurrence')} had been handed over, and may be tried again: "
            f"delayer stop {running[0].schedule_id}",
            Exit.NO,
        )


@command(app.series, "cancel", "delayer series cancel poll")
def cancel(session: "Session", which: Which) -> None:
    """Cancel a series for good. The exit status is 0 only if nothing of it will be handed over."""
    _halted(session, on(session, which, session.delayer.series.cancel))


@command(app.series, "pause", "delayer series pause poll")
def pause(session: "Session", which: Which) -> None:
    """Pause a series. The exit status is 0 only if nothing of it will be handed over until it is resumed."""
    _halted(session, on(session, which, session.delayer.series.pause))


@command(app.series, "resume", "delayer series resume --name poll")
def resume(session: "Session", which: Which) -> None:
    """Let a paused series go on with the first time that is still to come."""
    found = on(session, which, session.delayer.series.resume)
    now = found.occurrence
    rows = [
        ("Series", found.series_id),
        ("State", found.state),
        ("Missed", f"{number(found.missed, 'time')}, which are not made up" if found.missed else ""),
        ("Occurrence", f"{now.schedule_id}, due {session.both(now.point_in_time)}" if now else ""),
    ]
    session.output.one(found, details(rows))


@command(app.series, "run-now", "delayer series run-now --name poll")
def run_now(session: "Session", which: Which) -> None:
    """Let one occurrence fire at once, beside the current one."""
    found = on(session, which, session.delayer.series.run_now)
    session.output.one(found, details([("Schedule", found.schedule_id), ("Due", session.both(found.time))]))


@command(app.series, "backfill", "delayer series backfill --name poll --from 'yesterday 0:00' --until 'today 0:00'")
def backfill(
    session: "Session",
    which: Which,
    since: Annotated[str, typer.Option("--from", metavar="TIME", help="The first instant.")] = ...,  # type: ignore[assignment]
    until: Annotated[str, typer.Option("--until", metavar="TIME", help="The first instant after it.")] = "now",
) -> None:
    """Let an occurrence fire for each time of the rule in a range of the past, one after the other."""
    begin, end = session.moment(since), session.moment(until)
    found = on(session, which, lambda one: session.delayer.series.backfill(one, begin, end))
    rows = [
        ("Series", found.series_id),
        ("Range", f"{session.clock(found.from_)} to {session.clock(found.until)}"),
        ("First", f"{found.schedule_id}, for {session.clock(found.time)}"),
    ]
    session.output.one(found, details(rows))
