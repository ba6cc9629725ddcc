"""APScheduler with its jobs in SQLite."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from bench.peers.contender import AT_ONCE, CRASH, MEASURES, Memory
from bench.peers.contenders.installed import Installed
from bench.peers.processes import files_mb, memory_mb

THREADS = 10  # its default


class ApScheduler(Installed):
    """One process, which schedules and runs. It is killed as a whole, and restarted with its file."""

    fills_per_second = 250.0
    comes_back_seconds = 30
    chunk = 100
    client = worker = "service"

    def __init__(self, name: str, job_defaults: Mapping[str, Any], settings: str, measures: Collection[str]) -> None:
        super().__init__(name, settings, measures)
        self.job_defaults = job_defaults

    def begin(self) -> None:
        self.restart()

    def restart(self) -> None:
        arguments = (str(self.folder / "jobs.sqlite"), str(THREADS), json.dumps(dict(self.job_defaults)))
        self.start(self.worker, "-m", "bench.peers.programs.apscheduler_service", *arguments).answer()

    def memory(self) -> Memory | None:
        used = memory_mb([self.programs[self.worker].process.pid])
        return None if used is None else Memory(processes_mb=used, store_mb=files_mb(self.folder.glob("jobs.sqlite*")))


def reliable() -> ApScheduler:
    """Late is not lost."""
    said = f"misfire_grace_time None, so that nothing that is late is dropped; {THREADS} threads"
    return ApScheduler("apscheduler", {"misfire_grace_time": None}, said, MEASURES)


def by_default() -> ApScheduler:
    """As it is installed."""
    said = f"defaults: what is more than a second late is dropped; {THREADS} threads"
    return ApScheduler("apscheduler-defaults", {}, said, (AT_ONCE, CRASH))
