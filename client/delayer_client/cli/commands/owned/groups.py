"""Groups: what cancels one, and its job."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Final

import typer

from delayer_client.cli.options import command
from delayer_client.cli.options import group as new_group
from delayer_client.cli.shared import Yes
from delayer_client.cli.showing.progress import bar
from delayer_client.cli.showing.words import number
from delayer_client.states import WAITING

if TYPE_CHECKING:
    from delayer_client import Job
    from delayer_client.cli.session import Session

COUNTED: Final = 1000  # members are counted up to that
LOOK_EVERY: Final = 0.5  # seconds
LIVE_SERIES: Final = ("active", "paused", "waiting")


def cancel_group(session: "Session", group: str, *, yes: bool) -> None:
    """Asks with a count, begins the job, and waits for it."""
    if not yes:
        count = _count(session, group)
        if not count:
            session.output.note(f"Nothing of the group {group} waits. Nothing was done.")
            return
        session.agreed(f"Cancel {count} of the group {group}?", yes=False)
    job = session.delayer.groups.cancel(group)
    wait_for(session, job)


def _count(session: "Session", group: str) -> str:
    waiting = (one for one in session.delayer.list(group=group, page_size=100) if one.state in WAITING)
    count = sum(1 for _ in islice(waiting, COUNTED))
    series = sum(one.state in LIVE_SERIES for one in islice(session.delayer.series.list(group=group), COUNTED))
    more = " or more" if count == COUNTED else ""
    repeated = f" and {number(series, 'series', 'series')}" if series else ""
    return f"{number(count, 'schedule')}{more}{repeated}" if count or series else ""


def wait_for(session: "Session", job: "Job") -> None:
    """Shows how far it has come, and then its counts: what had been handed over before is among them."""
    with bar(session, f"Cancelling the group {job.group}") as shown:
        while job.state == "running":
            shown.at(job.found)
            session.surroundings.sleep(LOOK_EVERY)
            job = session.delayer.groups.job(job.id)
    session.output.one(job, words(job))


def words(job: "Job") -> str:
    """Says in words how far the job has come."""
    ended = f", {job.ended:,} had ended before" if job.ended else ""
    gone = f", {job.handed_over:,} had been handed over before" if job.handed_over else ""
    running = f" (job {job.id} still runs)" if job.state == "running" else ""
    return f"{job.cancelled:,} of the group {job.group} cancelled{gone}{ended}{running}."


def add(app: typer.Typer) -> None:
    """Adds them."""
    groups = new_group("groups", "Groups of schedules, and the jobs that cancel them.")

    @command(groups, "cancel", "delayer groups cancel customer-4711 --yes")
    def cancel(
        session: "Session",
        group: Annotated[str, typer.Argument(metavar="GROUP", help="The group.", show_default=False)],
        yes: Yes = False,
    ) -> None:
        """Cancel all schedules and series of a group, and wait for the job."""
        cancel_group(session, group, yes=yes)

    @command(groups, "job", "delayer groups job 5f2b6c0e1a7d4c33 --wait")
    def job(
        session: "Session",
        job_id: Annotated[str, typer.Argument(metavar="JOB", help="Its id.", show_default=False)],
        wait: Annotated[bool, typer.Option("--wait", "-w", help="Wait for its end.")] = False,
    ) -> None:
        """Show how far a job has come."""
        found = session.delayer.groups.job(job_id)
        if wait:
            wait_for(session, found)
        else:
            session.output.one(found, words(found))

    app.add_typer(groups, rich_help_panel="Yours")
