"""Waits for the end of a schedule."""

from typing import TYPE_CHECKING

from delayer_client.cli.exits import Exit
from delayer_client.cli.reading.durations import duration
from delayer_client.cli.refusals import Failed
from delayer_client.cli.showing.progress import waiting
from delayer_client.cli.showing.words import lateness

if TYPE_CHECKING:
    from delayer_client import Schedule
    from delayer_client.cli.session import Session


def wait(session: "Session", found: "Schedule", timeout: str | None) -> None:
    """Shows its end. Raises Failed if that is not `executed`, TimeoutError."""
    limit = duration(timeout) if timeout else None
    with waiting(session, f"Waiting for its end: due {session.clock(found.point_in_time) or 'when it is decided'}"):
        end = session.delayer.wait(found.id, limit)
    late = f", {lateness(end.lateness_ms)} late" if end.lateness_ms is not None else ""
    said = f" ({end.detail})" if end.detail else ""
    session.output.one(end, f"[bold]{end.state}[/bold]{late}{_plain(said)}")
    if end.state != "executed":
        raise Failed(f"It ended as {end.state}. What became of it: delayer get {end.id}", Exit.NO)


def _plain(text: str) -> str:
    return text.replace("[", r"\[")
