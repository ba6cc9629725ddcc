"""`delayer get` and `delayer list`."""

from itertools import islice
from typing import TYPE_CHECKING, Annotated

import typer

from delayer_client.cli.options import command
from delayer_client.cli.reading.durations import NotRead
from delayer_client.cli.reading.identified import SCHEDULE, by_id_or_name
from delayer_client.cli.shared import SHOWN, Limit, OfGroup, Which
from delayer_client.cli.showing import schedules
from delayer_client.cli.showing.words import number
from delayer_client.states import STATES, is_retried

if TYPE_CHECKING:
    from delayer_client.cli.session import Session


def states(incomplete: str) -> list[str]:
    """For completion."""
    return [state for state in STATES if state.startswith(incomplete)]


def state_of(said: str | None, *, retried: bool = False) -> str | None:
    """The state by which the API lists them. Raises NotRead for another word."""
    if said is not None and said not in STATES:
        raise NotRead(f"--state {said!r}: it is one of {', '.join(STATES)}.")
    if retried and said not in (None, "claimed"):
        raise NotRead(f"--retried: schedules that are retried are claimed, and none is {said}.")
    return "claimed" if retried else said


Retried = Annotated[
    bool, typer.Option("--retried", help="Only those of which an attempt has failed, and the next one follows.")
]


def add(app: typer.Typer) -> None:
    """Adds both."""

    @command(
        app,
        "get",
        "delayer get 040q4254sltg008000001l6ahj9egpjf6ujipdlrdnnrj7o",
        "delayer get invoice-20",
        panel="Schedules",
    )
    def get(session: "Session", which: Which) -> None:
        """Show one schedule: its state, its definition and its path."""
        found = by_id_or_name(SCHEDULE, which.id, which.name, session.delayer.get, session.delayer.get_named)
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
        group: OfGroup = None,
        state: Annotated[
            str | None, typer.Option("--state", help="Only those in this state.", autocompletion=states)
        ] = None,
        retried: Retried = False,
        since: Annotated[
            str | None, typer.Option("--since", metavar="TIME", help="Only those due then or later.")
        ] = None,
        until: Annotated[str | None, typer.Option("--until", metavar="TIME", help="Only those due before.")] = None,
        limit: Limit = None,
    ) -> None:
        """List schedules in the order in which they are due."""
        begin, end = (session.moment(one) if one else None for one in (since, until))
        wanted = limit or (None if session.as_json else SHOWN)
        page = min(wanted + 1, 100) if wanted else 100
        found = session.delayer.list(
            group=group, state=state_of(state, retried=retried), since=begin, until=end, page_size=page
        )
        found = (one for one in found if is_retried(one) or not retried)
        if session.as_json:
            session.output.objects(islice(found, wanted))
            return
        listed = list(islice(found, (wanted or SHOWN) + 1))
        some = listed[:wanted]
        if not some:
            session.output.note(
                "There are none." if group or state or retried else "There are none yet, or none any more."
            )
            return
        session.output.show(schedules.list_of(session, some))
        if len(listed) > len(some):
            session.output.note(f"The first {number(len(some), 'schedule')}; --limit shows more, --json all.")
