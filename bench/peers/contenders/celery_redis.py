"""Celery with tasks that have an ETA, on Redis."""

import json
import socket
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from bench.peers import environment
from bench.peers.contender import CRASH, MEASURES, Memory, Unavailable
from bench.peers.contenders.installed import START_SECONDS, Installed
from bench.peers.processes import files_mb, memory_mb
from local.stack.ports import free_port

CONCURRENCY = 4  # processes; a request waits for the target more than for a processor
AN_HOUR_IS_TOO_LONG = 15  # seconds
# What Celery's documentation says about tasks that must not be lost: acknowledge late, also if the process is killed,
# and take no more than one task ahead.
RELIABLE = {"task_acks_late": True, "task_reject_on_worker_lost": True, "worker_prefetch_multiplier": 1}
# The visibility timeout must be longer than the longest ETA; this one is as short as this benchmark allows.
MINUTE = {"broker_transport_options": {"visibility_timeout": 60, "unacked_restore_throttle": 1}}


class Celery(Installed):
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
        super().__init__(name, settings, measures)
        self.changed = {"worker_hijack_root_logger": False, **changed}
        self.comes_back_seconds = comes_back_seconds

    def begin(self) -> None:
        self.port = free_port()
        self.start_redis()
        self.restart()
        client = self.start(self.client, "-m", "bench.peers.programs.celery_client")
        client.answer()
        if not client.ask("ready", seconds=START_SECONDS):
            raise Unavailable(f"The worker of Celery did not answer within {START_SECONDS} s.")

    def variables(self) -> Mapping[str, str]:
        return {
            "PEERS_BROKER": f"redis://127.0.0.1:{self.port}/0",
            "PEERS_SETTINGS": json.dumps(self.changed),
        }

    def start_redis(self) -> None:
        """Wait until it takes connections."""
        options = f"--port {self.port} --bind 127.0.0.1 --appendonly yes --appendfsync everysec --dir {self.folder}"
        redis = self.run("redis", environment.redis_server(self.interpreter), *options.split(), "--save", "")
        deadline = time.monotonic() + START_SECONDS
        while redis.process.poll() is None and time.monotonic() < deadline:
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            time.sleep(0.05)
        raise Unavailable(f"Redis did not start; see {self.folder}/redis.log.")

    def restart(self) -> None:
        arguments = (
            f"-m celery -A bench.peers.programs.celery_tasks worker --concurrency {CONCURRENCY} --loglevel ERROR"
        )
        self.start(self.worker, *arguments.split())

    def memory(self) -> Memory | None:
        used = memory_mb(self.programs[name].process.pid for name in ("redis", self.worker))
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
