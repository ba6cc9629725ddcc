"""`delayer get` and `delayer list`."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from delayer_client.cli.options import command
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.reading.identified import SCHEDULE, by_id_or_name
from delayer_client.cli.showing import schedules
from delayer_client.cli.showing.words import number
from delayer_client.states import WORDS, asked_as, fits

if TYPE_CHECKING:
    from delayer_client.cli.session import Session

SHOWN = 50  # of a list, for people


def states(incomplete: str) -> list[str]:
    """For completion."""
    return [state for state in WORDS if state.startswith(incomplete)]


def state_of(said: str | None) -> str | None:
    """By which the API lists them. Raises NotRead: the API would not name `retrying`."""
    if said is not None and said not in WORDS:
        raise NotRead(f"--state {said!r}: it is one of {', '.join(WORDS)}.")
    return asked_as(said)


Id = Annotated[str | None, typer.Argument(metavar="ID", help="Its id, or its name.", show_default=False)]
ByName = Annotated[str | None, typer.Option("--name", "-n", help="It is a name, also if it looks like an id.")]


def add(app: typer.Typer) -> None:
    """Adds both."""

    @command(
        app,
        "get",
        "delayer get 040q4254sltg008000001l6ahj9egpjf6ujipdlrdnnrj7o",
        "delayer get invoice-20",
        panel="Schedules",
    )
    def get(session: "Session", schedule_id: Id = None, name: ByName = None) -> None:
        """Show one schedule: its state, its definition and its path."""
        found = by_id_or_name(SCHEDULE, schedule_id, name, session.delayer.get, session.delayer.get_named)
        session.output.one(found, *([] if session.as_json else schedules.whole(session, found)))

    @command(
        app,
        "list",
        "delayer list --group orders --state failed",
        "delayer list --since 'today 0:00' --until 'tomorrow 0:00' --json | jq -r .scheduleId",
        panel="Schedules",
    )
    def list_(
        session: "Session",
        group: Annotated[str | None, typer.Option("--group", "-g", help="Only those of this group.")] = None,
        state: Annotated[
            str | None, typer.Option("--state", help="Only those in this state.", autocompletion=states)
        ] = None,
        since: Annotated[
            str | None, typer.Option("--since", metavar="TIME", help="Only those due then or later.")
        ] = None,
        until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only those due before.")] = None,
        limit: Annotated[
            int | None,
            typer.Option("--limit", "-l", metavar="N", min=1, help="At most so many. For people 50; with --json all."),
        ] = None,
    ) -> None:
        """List schedules in the order in which they are due."""
        begin, end = (session.moment(one) if one else None for one in (since, until))
        wanted = limit or (None if session.as_json else SHOWN)
        page = min(wanted + 1, 100) if wanted else 100
        found = session.delayer.list(group=group, state=state_of(state), since=begin, until=end, page_size=page)
        found = (one for one in found if fits(one, state))
        if session.as_json:
            session.output.objects(islice(found, wanted))
            return
        listed = list(islice(found, (wanted or SHOWN) + 1))
        some = listed[:wanted]
        if not some:
            session.output.note("There are none." if group or state else "There are none yet, or none any more.")
            return
        session.output.show(schedules.list_of(session, some))
        if len(listed) > len(some):
            session.output.note(f"The first {number(len(some), 'schedule')}; --limit shows more, --json all.")
