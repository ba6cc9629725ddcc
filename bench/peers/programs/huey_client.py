"""Schedules and revokes tasks of huey."""

import time
from datetime import UTC, datetime

from bench.peers.programs.commands import serve
from bench.peers.programs.huey_tasks import app, fire

POLL_SECONDS = 0.05
LONGEST_WAIT_SECONDS = 10


def schedule(url: str, items: list[tuple[str, int]]) -> int:
    """A task with an ETA for each id and point in time (epoch ms).

    It goes into the queue, and a worker moves it into the schedule. After many, that is waited for.
    """
    for schedule_id, due in items:
        fire.schedule(args=(url, schedule_id), eta=datetime.fromtimestamp(due / 1000, UTC), id=schedule_id)
    deadline = time.monotonic() + LONGEST_WAIT_SECONDS
    while len(items) > 1 and app.pending_count() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    return len(items)


def cancel(schedule_id: str) -> str:
    """Revoke. The call says nothing of a task that has run, so that it always sounds like a yes."""
    app.revoke_by_id(schedule_id)
    return "cancelled"


def waiting() -> int:
    """Rows of the two tables. What a consumer has read is in neither of them."""
    return int(app.pending_count()) + int(app.scheduled_count())


if __name__ == "__main__":
    serve({"schedule": schedule, "cancel": cancel, "waiting": waiting})
