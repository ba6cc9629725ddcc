"""Delayer itself, on the emulator."""

import os
import signal
from collections.abc import Collection, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Self

from bench.load.clients import Client
from bench.peers.contender import MEASURES, Memory
from bench.peers.contenders.over_http import OverHttp
from bench.peers.processes import memory_mb, proportional_mb, workers_of
from local.emulator.metering.units import item_bytes
from local.stack.emulated_stack import EmulatedStack

SAMPLE = 100  # items
OVERHEAD_BYTES = 100  # which DynamoDB adds to each item when it bills storage


class Delayer(OverHttp):
    """The functions' processes are killed; the emulator, which plays AWS, stays, and starts them again as AWS does."""

    measures: Collection[str] = MEASURES
    cannot: Mapping[str, str] = {}
    fills_per_second = 250.0
    comes_back_seconds = 120  # the queues of the actions hide a message for 90

    def __init__(self, parameters: Mapping[str, str]) -> None:
        # Many thousands are POSTed at once, to see what they take: an owner's quota is not what is measured.
        self.parameters = {"MaxCreatesPerSecond": "0", **parameters}
        self.settings = " ".join(f"{name}={value}" for name, value in sorted(self.parameters.items()))

    def __enter__(self) -> Self:
        self.stack = EmulatedStack(0, self.parameters).__enter__()
        self.client = Client(self.stack.port)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stack.stop()

    def kill(self) -> None:
        for number in workers_of(self.leader):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    def restart(self) -> None:
        """The emulator does it when something is to be done."""

    def memory(self) -> Memory | None:
        used, emulator = memory_mb([self.leader]), proportional_mb(self.leader)
        if used is None:
            return None
        return Memory(processes_mb=emulator, store_mb=self.table_mb(), beside_mb=used - emulator)

    def table_mb(self) -> float:
        """What DynamoDB would bill for the schedules that wait: by calculation, from the size of some of them."""
        page = self.stack.client("dynamodb").scan(TableName=self.stack.outputs["SchedulesTable"], Limit=SAMPLE)
        sizes = [item_bytes(dict(item)) + OVERHEAD_BYTES for item in page["Items"]]
        return self.far_ahead * sum(sizes) / max(len(sizes), 1) / 1024**2

    @property
    def leader(self) -> int:
        """The emulator's process."""
        assert self.stack.process.process
        return self.stack.process.process.pid
