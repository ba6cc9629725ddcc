"""`delayer cancel` and `delayer stop`."""

from typing import TYPE_CHECKING, Annotated

import typer

from delayer_client.cli.commands.owned.groups import cancel_group
from delayer_client.cli.exits import Exit
from delayer_client.cli.options import command
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.reading.identified import SCHEDULE, acting, by_id_or_name
from delayer_client.cli.refusals import message_of, status_of
from delayer_client.cli.shared import ByName, Which, Yes
from delayer_client.cli.showing.texts import strong

if TYPE_CHECKING:
    from delayer_client import Cancellation
    from delayer_client.cli.session import Session


def add(app: typer.Typer) -> None:
    """Adds both."""

    @command(
        app,
        "cancel",
        "delayer cancel 040q4254sltg008000001l6ahj9egpjf6ujipdlrdnnrj7o",
        "delayer cancel trial-17",
        "delayer cancel --group customer-4711 --yes",
        panel="Schedules",
    )
    def cancel(
        session: "Session",
        schedule_id: Annotated[
            list[str] | None, typer.Argument(metavar="ID…", help="Ids or names of schedules.", show_default=False)
        ] = None,
        name: ByName = None,
        group: Annotated[str | None, typer.Option("--group", "-g", help="All of a group, its series too.")] = None,
        yes: Yes = False,
    ) -> None:
        """Cancel. The exit status is 0 only if it will never be handed over."""
        if sum(map(bool, (schedule_id, name, group))) != 1:
            raise NotRead("Give ids or names, or --name, or --group.")
        if group:
            cancel_group(session, group, yes=yes)
            return
        statuses = [_ended(session, one, None) for one in schedule_id or ()] or [_ended(session, None, name)]
        if worst := max(statuses):
            raise typer.Exit(worst)

    @command(app, "stop", "delayer stop 040q4254sltg008000001l6ahj9egpjf6ujipdlrdnnrj7o", panel="Schedules")
    def stop(session: "Session", which: Which) -> None:
        """Keep further attempts of a schedule from starting, once it is handed over."""
        calls = session.delayer
        found = acting(SCHEDULE, which.id, which.name, calls.stop, calls.get, calls.get_named)
        session.output.one(found, f"Stopped: no further attempt starts. It is {found.state}.")


def _ended(session: "Session", one: str | None, name: str | None) -> Exit:
    """Cancels one, and shows what became of it: what is refused does not keep the others from being cancelled."""
    from delayer_client import NoAnswer, Refused

    which = one or name or ""
    try:
        answer = by_id_or_name(SCHEDULE, one, name, session.delayer.cancel, session.delayer.cancel_named)
    except Refused as refused:
        if session.as_json:
            session.output.error_object(refused.problem.as_json())
        else:
            session.output.error(f"Not cancelled: {which}. {message_of(refused, session)}")
        return status_of(refused) or Exit.NO
    except NoAnswer as error:
        error.add_note(f"It is not known whether {which} is cancelled; what comes after it was not asked for.")
        raise
    _show(session, which, answer)
    return Exit.OK if answer else Exit.NO


def _show(session: "Session", which: str, answer: "Cancellation") -> None:
    problem = answer.problem
    found = (
        answer.schedule.as_json() if answer.schedule else problem.as_json() if problem else {"reason": answer.reason}
    )
    if session.as_json:
        session.output.objects([found])
    elif answer:
        session.output.show(strong("Cancelled:", f" {which} will never be handed over.", "green"))
    else:
        detail = problem.detail if problem else answer.reason
        again = f" Ask again in {answer.retry_after:.0f} s." if answer.retry_after else ""
        session.output.error(f"Not cancelled: {which}. {detail}{again}{_hint(answer)}")


def _hint(answer: "Cancellation") -> str:
    return " `delayer stop` keeps further attempts from starting." if answer.reason == "handed-over" else ""
