"""Celery with tasks that have an ETA, on Redis."""

import json
import shutil
import socket
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from bench.peers import environment
from bench.peers.contender import CRASH, MEASURES, Memory, Unavailable
from bench.peers.processes import Program, files_mb, memory_mb
from local.stack.ports import free_ports

CONCURRENCY = 4  # processes; a request waits for the target more than for a processor
START_SECONDS = 20
AN_HOUR_IS_TOO_LONG = 15  # seconds
CHUNK = 500  # schedules for one command
# What Celery's documentation says about tasks that must not be lost: acknowledge late, also if the process is killed,
# and take no more than one task ahead.
RELIABLE = {"task_acks_late": True, "task_reject_on_worker_lost": True, "worker_prefetch_multiplier": 1}
# The visibility timeout must be longer than the longest ETA; this one is as short as this benchmark allows.
MINUTE = {"broker_transport_options": {"visibility_timeout": 60, "unacked_restore_throttle": 1}}


class Celery:
    """A Redis that appends to its file each second, one worker, and one client."""

    fills_per_second = 700.0

    def __init__(
        self,
        name: str,
        changed: Mapping[str, Any],
        settings: str,
        measures: Collection[str],
        comes_back_seconds: int = AN_HOUR_IS_TOO_LONG,
    ) -> None:
        self.name = name
        self.changed = {"worker_hijack_root_logger": False, **changed}
        self.settings = settings
        self.measures = measures
        self.comes_back_seconds = comes_back_seconds
        self.programs: dict[str, Program] = {}

    def __enter__(self) -> Self:
        self.folder = environment.FOLDER / self.name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        try:
            self.interpreter = environment.python()
            self.port = free_ports()[0]
            self.start_redis()
            self.restart()
            self.start("client", [str(self.interpreter), "-m", "bench.peers.programs.celery_client"])
            self.programs["client"].answer()
            if not self.programs["client"].ask("ready", seconds=START_SECONDS):
                raise Unavailable(f"The worker of Celery did not answer within {START_SECONDS} s.")
        except BaseException:
            self.stop()
            raise
        return self

    def start(self, name: str, command: Sequence[str]) -> None:
        """A program, with the settings of the application."""
        variables = {
            "PEERS_BROKER": f"redis://127.0.0.1:{self.port}/0",
            "PEERS_SETTINGS": json.dumps(self.changed),
        }
        self.programs[name] = Program(command, self.folder / f"{name}.log", variables)

    def start_redis(self) -> None:
        """Wait until it takes connections."""
        options = f"--port {self.port} --bind 127.0.0.1 --appendonly yes --appendfsync everysec --dir {self.folder}"
        self.start("redis", [environment.redis_server(self.interpreter), *options.split(), "--save", ""])
        deadline = time.monotonic() + START_SECONDS
        while self.programs["redis"].process.poll() is None and time.monotonic() < deadline:
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            time.sleep(0.05)
        raise Unavailable(f"Redis did not start; see {self.folder}/redis.log.")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """The last to have started first."""
        for program in reversed(self.programs.values()):
            program.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def schedule(self, url: str, times: Sequence[int]) -> Mapping[str, int]:
        items = [(str(uuid.uuid4()), due) for due in times]
        for start in range(0, len(items), CHUNK):
            self.programs["client"].ask("schedule", url=url, items=items[start : start + CHUNK])
        return dict(items)

    def cancel(self, schedule_id: str) -> str:
        return str(self.programs["client"].ask("cancel", schedule_id=schedule_id))

    def kill(self) -> None:
        self.programs["worker"].kill()

    def restart(self) -> None:
        command = f"-m celery -A bench.peers.programs.celery_tasks worker --concurrency {CONCURRENCY} --loglevel ERROR"
        self.start("worker", [str(self.interpreter), *command.split()])

    def waiting(self, missing: Collection[str]) -> int:
        return min(int(self.programs["client"].ask("waiting")), len(missing))

    def memory(self) -> Memory | None:
        used = memory_mb(self.programs[name].process.pid for name in ("redis", "worker"))
        return None if used is None else Memory(processes_mb=used, store_mb=files_mb(self.folder.rglob("*aof*")))


def reliable() -> Celery:
    """As its documentation advises."""
    said = "acks_late, reject_on_worker_lost, prefetch 1; visibility timeout 1 hour, the default"
    return Celery("celery", RELIABLE, said, MEASURES)


def a_minute() -> Celery:
    """As before, with the shortest visibility timeout that this benchmark allows."""
    said = "as above, with a visibility timeout of 60 s: no ETA may be further away than that"
    return Celery("celery-minute", {**RELIABLE, **MINUTE}, said, (CRASH,), comes_back_seconds=100)


def by_default() -> Celery:
    """As it is installed."""
    said = "defaults: acknowledged when the task begins, prefetch 4, visibility timeout 1 hour"
    return Celery("celery-defaults", {}, said, (CRASH,))
