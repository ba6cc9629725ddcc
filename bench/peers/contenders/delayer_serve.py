"""Delayer on one machine: `delayer serve`, the process as it is installed."""

import shutil
import signal
from collections.abc import Collection, Mapping
from types import TracebackType
from typing import Self

from bench.load.clients import Client
from bench.peers import environment
from bench.peers.contender import MEASURES, Memory
from bench.peers.contenders.over_http import OverHttp
from bench.peers.processes import files_mb, memory_mb
from bench.serve.engine import Engine

SETTINGS = "none is set: journal on, each commit synced; 64 attempts at a time; POSTed in batches of 100"


class DelayerServe(OverHttp):
    """One process, which is killed as a whole, and restarted on its folder."""

    settings = SETTINGS
    measures: Collection[str] = MEASURES
    cannot: Mapping[str, str] = {}
    fills_per_second = 1000.0
    comes_back_seconds = 15

    def __enter__(self) -> Self:
        self.folder = environment.FOLDER / "delayer-serve"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.engine = Engine(self.folder / "data", self.folder / "engine.log")
        self.client = Client(self.engine.port)
        self.restart()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.engine.stop(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self) -> None:
        self.engine.stop(signal.SIGKILL)

    def restart(self) -> None:
        self.engine.start()

    def memory(self) -> Memory | None:
        used = memory_mb([self.engine.pid])
        if used is None:
            return None
        return Memory(processes_mb=used, store_mb=files_mb((self.folder / "data").glob("delayer.db*")))
