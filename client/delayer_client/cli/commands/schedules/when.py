"""When a schedule is due: `--in`, `--at` or `--when`."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from delayer_client.cli.reading.durations import NotRead, duration
from delayer_client.cli.reading.policies import policy

if TYPE_CHECKING:
    from delayer_client.api.action import Policy
    from delayer_client.cli.session import Session

PANEL = "When"
In = Annotated[
    str | None, typer.Option("--in", "-i", metavar="DURATION", help="From now: 10m, 2h30m, 1d.", rich_help_panel=PANEL)
]
At = Annotated[
    str | None,
    typer.Option("--at", "-a", metavar="TIME", help="'tomorrow 09:00', RFC 3339, …", rich_help_panel=PANEL),
]
When = Annotated[
    str | None,
    typer.Option("--when", metavar="POLICY", help="A policy decides: spread:{JSON}.", rich_help_panel=PANEL),
]


class Due(TypedDict):
    """As the library takes it: one of them is given."""

    at: datetime | None
    delay: timedelta | None
    when: "Policy | None"


def due(session: "Session", in_: str | None, at: str | None, when: str | None) -> Due:
    """Raises NotRead unless exactly one is given."""
    from delayer_client import Policy

    if sum(one is not None for one in (in_, at, when)) != 1:
        raise NotRead("Say when: exactly one of --in 10m, --at 'tomorrow 09:00' and --when POLICY.")
    decided = policy(when) if when else None
    return Due(
        at=session.moment(at) if at else None,
        delay=duration(in_) if in_ else None,
        when=Policy(**decided) if decided else None,
    )
