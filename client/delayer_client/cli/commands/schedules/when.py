"""When a schedule is due: `--in`, `--at` or `--when`."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer
from attrs import frozen

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
Wait = Annotated[bool, typer.Option("--wait", "-w", help="Wait for its end.", rich_help_panel=PANEL)]
Timeout = Annotated[
    str | None,
    typer.Option("--timeout", metavar="DURATION", help="Wait no longer than that.", rich_help_panel=PANEL),
]


class Due(TypedDict):
    """As the library takes it: one of them is given."""

    at: datetime | None
    delay: timedelta | None
    when: "Policy | None"


@frozen(kw_only=True)
class DueFlags:
    """As they were given; and whether its end is waited for."""

    in_: In = None
    at: At = None
    when: When = None
    wait_for_end: Wait = False
    timeout: Timeout = None

    def due(self, session: "Session") -> Due:
        """Raises NotRead unless exactly one is given."""
        from delayer_client import Policy

        if sum(one is not None for one in (self.in_, self.at, self.when)) != 1:
            raise NotRead("Say when: exactly one of --in 10m, --at 'tomorrow 09:00' and --when POLICY.")
        decided = policy(self.when) if self.when else None
        return Due(
            at=session.moment(self.at) if self.at else None,
            delay=duration(self.in_) if self.in_ else None,
            when=Policy(**decided) if decided else None,
        )

    def limit(self) -> timedelta | None:
        """How long is waited; None without an end. Raises NotRead."""
        return duration(self.timeout) if self.timeout else None
