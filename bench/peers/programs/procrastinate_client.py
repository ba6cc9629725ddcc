"""Defers and cancels jobs of procrastinate."""

import time
from datetime import UTC, datetime

from procrastinate.jobs import Status

from bench.peers.programs.commands import serve
from bench.peers.programs.procrastinate_tasks import QUEUE, app, fire, ping

POLL_SECONDS = 0.05


def schedule(url: str, times: list[int]) -> list[str]:
    """A job for each point in time (epoch ms); their ids."""
    return [str(fire.configure(schedule_at=datetime.fromtimestamp(due / 1000, UTC)).defer(url=url)) for due in times]


def cancel(schedule_id: str) -> str:
    """Cancel a job that has not been taken."""
    return "cancelled" if app.job_manager.cancel_job_by_id(int(schedule_id)) else "too late"


def waiting() -> int:
    """Jobs that are to be done, or that a worker has taken."""
    return sum(row["todo"] + row["doing"] for row in app.job_manager.list_queues(queue=QUEUE))


def ready(seconds: float) -> bool:
    """Whether a worker has done a job within this time."""
    job_id, deadline = ping.defer(), time.monotonic() + seconds
    while time.monotonic() < deadline:
        if app.job_manager.get_job_status(job_id) is Status.SUCCEEDED:
            return True
        time.sleep(POLL_SECONDS)
    return False


if __name__ == "__main__":
    with app.open():
        app.schema_manager.apply_schema()
        serve({"schedule": schedule, "cancel": cancel, "waiting": waiting, "ready": ready})
