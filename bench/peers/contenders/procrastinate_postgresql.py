"""procrastinate with its jobs in PostgreSQL."""

import json
from collections.abc import Mapping, Sequence

from bench.peers.contender import MEASURES, Memory, Unavailable
from bench.peers.contenders.installed import START_SECONDS, Installed
from bench.peers.postgresql import PostgreSql
from bench.peers.processes import memory_mb

WORKERS = 2  # processes: one fetches its jobs one by one, each with a commit
CONCURRENCY = 5  # jobs at a time of each, in threads
POLL_SECONDS = 0.01
HEARTBEAT_SECONDS = 1
STALLED_SECONDS = 5  # without a heartbeat
WORKER = {
    "concurrency": CONCURRENCY,
    "fetch_job_polling_interval": POLL_SECONDS,  # a notification comes when a job is deferred, none when it is due
    "update_heartbeat_interval": HEARTBEAT_SECONDS,
    "stalled_worker_timeout": STALLED_SECONDS,
}
SETTINGS = (
    f"fetch_job_polling_interval {POLL_SECONDS}; {WORKERS} workers with {CONCURRENCY} jobs at a time; heartbeats each "
    f"second, and jobs of a worker without one for {STALLED_SECONDS} s are retried by a periodic task, as its "
    "documentation advises, each second; PostgreSQL with its defaults, so fsync and synchronous_commit are on"
)


class Procrastinate(Installed):
    """A PostgreSQL of its own, workers, which are killed, and one client."""

    fills_per_second = 150.0
    comes_back_seconds = 30
    chunk = 100
    workers = tuple(f"worker {number + 1}" for number in range(WORKERS))

    def __init__(self) -> None:
        super().__init__("procrastinate", SETTINGS, MEASURES)
        self.database: PostgreSql | None = None

    def begin(self) -> None:
        self.database = PostgreSql()
        self.database.start()
        client = self.start(self.client, "-m", "bench.peers.programs.procrastinate_client")
        client.answer()  # the tables are there
        self.restart()
        if not client.ask("ready", seconds=START_SECONDS):
            raise Unavailable(f"No worker of procrastinate has answered within {START_SECONDS} s.")

    def variables(self) -> Mapping[str, str]:
        assert self.database
        return {
            "PEERS_DATABASE": self.database.address,
            "PEERS_SETTINGS": json.dumps(WORKER),
            "PEERS_STALLED_SECONDS": str(STALLED_SECONDS),
        }

    def restart(self) -> None:
        app = "--app=bench.peers.programs.procrastinate_tasks.app"
        for name in self.workers:
            self.start(name, "-m", "procrastinate", app, "--log-level=warning", "worker")

    def kill(self) -> None:
        for name in self.workers:
            self.programs[name].kill()

    def stop(self) -> None:
        super().stop()
        if self.database:
            self.database.stop()

    def schedule(self, url: str, times: Sequence[int]) -> Mapping[str, int]:
        due: dict[str, int] = {}
        for start in range(0, len(times), self.chunk):
            chunk = times[start : start + self.chunk]
            ids = self.programs[self.client].ask("schedule", url=url, times=list(chunk))
            due.update(zip(ids, chunk, strict=True))
        return due

    def memory(self) -> Memory | None:
        assert self.database
        assert self.database.server
        programs = [self.database.server, *(self.programs[name] for name in self.workers)]
        used = memory_mb(one.process.pid for one in programs)
        return None if used is None else Memory(processes_mb=used, store_mb=self.database.tables_mb())
