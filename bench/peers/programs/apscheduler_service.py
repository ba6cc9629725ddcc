"""APScheduler with its jobs in SQLite. It is one process, which schedules and runs: a job store has one scheduler."""

import json
import sys
from datetime import UTC, datetime

from apscheduler.executors.pool import ThreadPoolExecutor
from apscheduler.jobstores.base import JobLookupError
from apscheduler.jobstores.sqlalchemy import SQLAlchemyJobStore
from apscheduler.schedulers.background import BackgroundScheduler

from bench.peers.programs.commands import serve
from bench.peers.programs.target import send

file, threads, job_defaults = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
STORE = SQLAlchemyJobStore(url=f"sqlite:///{file}")
SCHEDULER = BackgroundScheduler(
    jobstores={"default": STORE},
    executors={"default": ThreadPoolExecutor(threads)},
    job_defaults=job_defaults,
    timezone=UTC,
)


def schedule(url: str, items: list[tuple[str, int]]) -> int:
    """A job for each id and point in time (epoch ms)."""
    for schedule_id, due in items:
        at = datetime.fromtimestamp(due / 1000, UTC)
        SCHEDULER.add_job(send, "date", run_date=at, args=[url, schedule_id], id=schedule_id)
    return len(items)


def cancel(schedule_id: str) -> str:
    """Remove the job."""
    try:
        SCHEDULER.remove_job(schedule_id)
    except JobLookupError:
        return "too late"
    return "cancelled"


def waiting() -> int:
    """The rows of the table."""
    with STORE.engine.connect() as connection:
        return int(connection.exec_driver_sql("SELECT COUNT(*) FROM apscheduler_jobs").scalar_one())


if __name__ == "__main__":
    SCHEDULER.start()
    serve({"schedule": schedule, "cancel": cancel, "waiting": waiting})
