"""Waits for the end of a schedule."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from delayer_client.cli.exits import Exit
from delayer_client.cli.refusals import Failed
from delayer_client.cli.showing.progress import waiting
from delayer_client.cli.showing.texts import strong
from delayer_client.cli.showing.words import lateness

if TYPE_CHECKING:
    from delayer_client import Schedule
    from delayer_client.cli.session import Session


def wait(session: "Session", found: "Schedule", limit: timedelta | None) -> None:
    """Shows its end. Raises Failed if that is not `executed`, TimeoutError."""
    due = session.clock(found.point_in_time) or "when it is decided"
    with _known(session, found), waiting(session, f"Waiting for its end: due {due}"):
        end = session.delayer.wait(found.id, limit)
    late = f", {lateness(end.lateness_ms)} late" if end.lateness_ms is not None else ""
    said = f" ({end.detail})" if end.detail else ""
    session.output.one(end, strong(end.state, f"{late}{said}"))
    if end.state != "executed":
        raise Failed(f"It ended as {end.state}. What became of it: delayer get {end.id}", Exit.NO)


@contextmanager
def _known(session: "Session", made: "Schedule") -> Iterator[None]:
    """However the wait ends, a script gets the id: what was made, if not its end."""
    try:
        yield
    except BaseException:
        if session.as_json:
            session.output.objects([made])
        raise
