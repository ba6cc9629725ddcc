"""The procrastinate application, for its worker and its client. Its database and its settings come as variables."""

import json
import os

from procrastinate import App, JobContext, PsycopgConnector

from bench.peers.programs.target import send

STALLED_SECONDS = int(os.environ["PEERS_STALLED_SECONDS"])
QUEUE = "fire"

app = App(
    connector=PsycopgConnector(conninfo=os.environ["PEERS_DATABASE"]),
    worker_defaults=json.loads(os.environ["PEERS_SETTINGS"]),
)


@app.task(name="peers.fire", queue=QUEUE, pass_context=True)  # type: ignore[untyped-decorator, unused-ignore]
def fire(context: JobContext, url: str) -> None:
    """The task. Its id is that of its row."""
    send(url, str(context.job.id))


@app.task(name="peers.ping")  # type: ignore[untyped-decorator, unused-ignore]
def ping() -> None:
    """A worker that has done it is there."""


@app.periodic(cron="* * * * * *")  # type: ignore[untyped-decorator, unused-ignore]
@app.task(name="peers.retry_stalled_jobs", queueing_lock="retry_stalled_jobs", pass_context=True)  # type: ignore[untyped-decorator, unused-ignore]
async def retry_stalled_jobs(context: JobContext, timestamp: int) -> None:  # noqa: ARG001 - procrastinate passes both
    """As its documentation advises: what a dead worker had taken is taken up again. Here each second."""
    for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=STALLED_SECONDS):
        await app.job_manager.retry_job(job)
