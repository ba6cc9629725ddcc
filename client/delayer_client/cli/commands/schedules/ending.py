"""`delayer cancel` and `delayer stop`."""

from typing import TYPE_CHECKING, Annotated

import typer

from delayer_client.cli.commands.owned.groups import cancel_group
from delayer_client.cli.commands.schedules.looking import ByName
from delayer_client.cli.exits import Exit
from delayer_client.cli.options import command
from delayer_client.cli.reading.durations import NotRead

if TYPE_CHECKING:
    from delayer_client import Cancellation
    from delayer_client.cli.session import Session

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


def add(app: typer.Typer) -> None:
    """Adds both."""

    @command(
        app,
        "cancel",
        "delayer cancel 040q4254sltg008000001l6ahj9egpjf6ujipdlrdnnrj7o",
        "delayer cancel --name trial-17",
        "delayer cancel --group customer-4711 --yes",
        panel="Schedules",
    )
    def cancel(
        session: "Session",
        schedule_id: Annotated[
            list[str] | None, typer.Argument(metavar="ID…", help="Ids of schedules.", show_default=False)
        ] = None,
        name: ByName = None,
        group: Annotated[str | None, typer.Option("--group", "-g", help="All of a group, its series too.")] = None,
        yes: Yes = False,
    ) -> None:
        """Cancel. The exit status is 0 only if it will never be handed over."""
        if sum(map(bool, (schedule_id, name, group))) != 1:
            raise NotRead("Give ids, or --name, or --group.")
        if group:
            cancel_group(session, group, yes=yes)
            return
        delayer = session.delayer
        answers = [delayer.cancel_named(name)] if name else [delayer.cancel(one) for one in schedule_id or ()]
        for one, answer in zip(schedule_id or [name or ""], answers, strict=True):
            _show(session, one, answer)
        if not all(answers):
            raise typer.Exit(Exit.NO)

    @command(app, "stop", "delayer stop 040q4254sltg008000001l6ahj9egpjf6ujipdlrdnnrj7o", panel="Schedules")
    def stop(session: "Session", schedule_id: Annotated[str, typer.Argument(metavar="ID", help="Its id.")]) -> None:
        """Keep further attempts of a schedule from starting, once it is handed over."""
        found = session.delayer.stop(schedule_id)
        session.output.one(found, f"Stopped: no further attempt starts. It is {found.state}.")


def _show(session: "Session", which: str, answer: "Cancellation") -> None:
    problem = answer.problem
    found = (
        answer.schedule.as_json() if answer.schedule else problem.as_json() if problem else {"reason": answer.reason}
    )
    if session.as_json:
        session.output.objects([found])
    elif answer:
        session.output.show(f"[green]Cancelled:[/green] {which} will never be handed over.")
    else:
        detail = problem.detail if problem else answer.reason
        again = f" Ask again in {answer.retry_after:.0f} s." if answer.retry_after else ""
        session.output.error(f"Not cancelled: {which}. {detail}{again}{_hint(answer)}")


def _hint(answer: "Cancellation") -> str:
    return " `delayer stop` keeps further attempts from starting." if answer.reason == "handed-over" else ""
