"""APScheduler with its jobs in SQLite."""

import json
import shutil
import uuid
from collections.abc import Collection, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from bench.peers import environment
from bench.peers.contender import AT_ONCE, CRASH, MEASURES, Memory
from bench.peers.processes import Program, files_mb, memory_mb

THREADS = 10  # its default
CHUNK = 100


class ApScheduler:
    """One process, which schedules and runs. It is killed as a whole, and restarted with its file."""

    fills_per_second = 250.0
    comes_back_seconds = 30

    def __init__(self, name: str, job_defaults: Mapping[str, Any], settings: str, measures: Collection[str]) -> None:
        self.name = name
        self.job_defaults = job_defaults
        self.settings = settings
        self.measures = measures
        self.service: Program | None = None

    def __enter__(self) -> Self:
        self.folder = environment.FOLDER / self.name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        try:
            self.interpreter = environment.python()
            self.restart()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """With its file."""
        if self.service:
            self.service.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def running(self) -> Program:
        """The process."""
        assert self.service
        return self.service

    def schedule(self, url: str, times: Sequence[int]) -> Mapping[str, int]:
        items = [(str(uuid.uuid4()), due) for due in times]
        for start in range(0, len(items), CHUNK):
            self.running.ask("schedule", url=url, items=items[start : start + CHUNK])
        return dict(items)

    def cancel(self, schedule_id: str) -> str:
        return str(self.running.ask("cancel", schedule_id=schedule_id))

    def kill(self) -> None:
        self.running.kill()

    def restart(self) -> None:
        command = [str(self.interpreter), "-m", "bench.peers.programs.apscheduler_service"]
        arguments = [str(self.folder / "jobs.sqlite"), str(THREADS), json.dumps(dict(self.job_defaults))]
        self.service = Program([*command, *arguments], self.folder / "service.log")
        self.service.answer()

    def waiting(self, missing: Collection[str]) -> int:
        return min(int(self.running.ask("waiting")), len(missing))

    def memory(self) -> Memory | None:
        used = memory_mb([self.running.process.pid])
        return None if used is None else Memory(processes_mb=used, store_mb=files_mb(self.folder.glob("jobs.sqlite*")))


def reliable() -> ApScheduler:
    """Late is not lost."""
    said = f"misfire_grace_time None, so that nothing that is late is dropped; {THREADS} threads"
    return ApScheduler("apscheduler", {"misfire_grace_time": None}, said, MEASURES)


def by_default() -> ApScheduler:
    """As it is installed."""
    said = f"defaults: what is more than a second late is dropped; {THREADS} threads"
    return ApScheduler("apscheduler-defaults", {}, said, (AT_ONCE, CRASH))
