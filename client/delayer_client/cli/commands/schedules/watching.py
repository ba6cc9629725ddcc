"""`delayer watch`: a live table of what is due, what fired, how late."""

from datetime import timedelta
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Annotated, Final

import typer
from attrs import frozen

from delayer_client.cli.options import command
from delayer_client.cli.reading.durations import NotRead, duration
from delayer_client.cli.shared import OfGroup
from delayer_client.cli.showing import schedules
from delayer_client.cli.showing.table import one_line
from delayer_client.cli.showing.words import lateness, number
from delayer_client.states import LIVE, has_fired

if TYPE_CHECKING:
    from rich.console import RenderableType

    from delayer_client import Schedule
    from delayer_client.cli.session import Session

SPANS: Final = (300, 60, 12, 2)  # seconds; the longest in which no more are due than are looked at
PAGE: Final = 100
MOST: Final = 5 * PAGE  # that are looked at
FEWEST: Final = timedelta(seconds=1)  # between two looks


@frozen(kw_only=True)
class Seen:
    """One look."""

    next: "list[Schedule]"  # that is due next
    lately: "list[Schedule]"  # that was due, the latest first
    seconds: int = SPANS[0]  # in which that was
    has_more: bool = False  # more was due in them than is looked at: these are the first

    @property
    def before(self) -> int:
        """With how many seconds the next look begins: soon as many are due again, or as few."""
        longer = SPANS[max(0, SPANS.index(self.seconds) - 1)]
        return longer if len(self.lately) < MOST / 10 else self.seconds


def look(session: "Session", group: str | None, rows: int, seconds: int = SPANS[0]) -> Seen:
    """For what was due lately, and for what comes; it looks at 500 of each at most."""
    now, delayer = session.now, session.delayer
    ahead = islice(delayer.list(group=group, since=now, page_size=max(rows, 10)), MOST)
    live = list(islice((one for one in ahead if one.state in LIVE), rows))
    for span in SPANS[SPANS.index(seconds) :]:
        since = now - timedelta(seconds=span)
        past = list(islice(delayer.list(group=group, since=since, until=now, page_size=PAGE), MOST + 1))
        if len(past) <= MOST or span == SPANS[-1]:
            break
    return Seen(next=live, lately=past[:MOST][::-1], seconds=span, has_more=len(past) > MOST)


def percentile(values: list[int], share: float) -> int:
    """The nearest rank."""
    return sorted(values)[max(0, ceil(share * len(values)) - 1)]


def span(seen: Seen) -> str:
    """`5 minutes: 17 schedules`."""
    lately = "5 minutes" if seen.seconds == SPANS[0] else f"{seen.seconds} seconds"
    return f"{lately}: {'the first ' if seen.has_more else ''}{number(len(seen.lately), 'schedule')}"


def picture(session: "Session", seen: Seen, rows: int) -> "RenderableType":
    """Both tables, one under the other."""
    from rich.console import Group
    from rich.text import Text

    late = [one.lateness_ms or 0 for one in seen.lately if has_fired(one)]
    figures = f", late p50 {lateness(percentile(late, 0.5))}, p99 {lateness(percentile(late, 0.99))}" if late else ""
    parts: list[RenderableType] = [
        Text(f"{one_line(session.url)}  {session.now.astimezone(session.zone):%H:%M:%S %Z}", style="dim"),
        Text("Due next", style="bold"),
        schedules.list_of(session, seen.next, id_rank=8) if seen.next else Text("  nothing", style="dim"),
        Text(""),
        Text(f"Due in the last {span(seen)}{figures}", style="bold"),
        schedules.list_of(session, seen.lately[:rows], id_rank=8) if seen.lately else Text("  nothing", style="dim"),
    ]
    return Group(*parts)


def add(app: typer.Typer) -> None:
    """Adds it."""

    @command(app, "watch", "delayer watch --group orders", "delayer watch --once", panel="Schedules")
    def watch(
        session: "Session",
        group: OfGroup = None,
        rows: Annotated[int, typer.Option("--rows", metavar="N", min=1, max=100, help="Of each table.")] = 10,
        every: Annotated[str, typer.Option("--every", metavar="DURATION", help="Between two looks.")] = "2s",
        once: Annotated[bool, typer.Option("--once", help="One look, then end.")] = False,
    ) -> None:
        """Watch what is due next, what fired lately, and how late. Ctrl-C ends it."""
        pause = duration(every)
        if pause < FEWEST:
            raise NotRead("--every is at least 1s.")
        if session.as_json:
            seen = look(session, group, rows)
            session.output.objects([*seen.lately[::-1], *seen.next])
        elif once or not session.console.is_terminal:
            session.output.show(picture(session, look(session, group, rows), rows))
        else:
            _live(session, group, rows, pause)


def _live(session: "Session", group: str | None, rows: int, pause: timedelta) -> None:
    from rich.live import Live

    seen = look(session, group, rows)
    with Live(picture(session, seen, rows), console=session.console, auto_refresh=False, transient=False) as live:
        try:
            while True:
                session.surroundings.sleep(pause.total_seconds())
                seen = look(session, group, rows, seen.before)
                live.update(picture(session, seen, rows), refresh=True)
        except KeyboardInterrupt:
            return
