"""Delayer itself, on the emulator."""

import json
import os
import signal
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import TracebackType
from typing import Self

from bench.load import calls
from bench.load.calls import NewSchedule
from bench.load.clients import Client
from bench.load.due_times import SECOND
from bench.load.generator import now
from bench.peers.contender import CANCELLED, MEASURES, TOO_LATE, UNANSWERED, Memory
from bench.peers.processes import memory_mb, proportional_mb, workers_of
from local.emulator.metering.units import item_bytes
from local.errors import EmulatorError
from local.stack.emulated_stack import EmulatedStack

BATCH = 100  # schedules in one POST
CLIENTS = 2
AN_HOUR = 3600 * SECOND
SAMPLE = 100  # items
OVERHEAD_BYTES = 100  # which DynamoDB adds to each item when it bills storage
STILL_TO_COME = {"scheduled", "enqueued", "claimed"}


class Delayer:
    """The functions' processes are killed; the emulator, which plays AWS, stays, and starts them again as AWS does."""

    measures: Collection[str] = MEASURES
    cannot: Mapping[str, str] = {}
    fills_per_second = 250.0
    comes_back_seconds = 120  # the queues of the actions hide a message for 90

    def __init__(self, parameters: Mapping[str, str]) -> None:
        # Many thousands are POSTed at once, to see what they take: an owner's quota is not what is measured.
        self.parameters = {"MaxCreatesPerSecond": "0", **parameters}
        self.far_ahead = 0  # schedules that only wait
        self.settings = " ".join(f"{name}={value}" for name, value in sorted(self.parameters.items()))

    def __enter__(self) -> Self:
        self.stack = EmulatedStack(0, self.parameters).__enter__()
        self.client = Client(self.stack.port)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stack.stop()

    def schedule(self, url: str, times: Sequence[int]) -> Mapping[str, int]:
        if len(times) == 1:
            return {self.client.post(NewSchedule(due=times[0], target=url)): times[0]}
        batches = [times[start : start + BATCH] for start in range(0, len(times), BATCH)]
        with ThreadPoolExecutor(CLIENTS) as threads:
            done = list(threads.map(lambda batch: self.post(url, batch), batches))
        self.far_ahead += sum(due > now() + AN_HOUR for due in times)
        return {schedule_id: due for one in done for schedule_id, due in one.items()}

    def post(self, url: str, times: Sequence[int]) -> dict[str, int]:
        """One batch; EmulatorError if any of it was refused."""
        news = [NewSchedule(due=due, target=url) for due in times]
        call = calls.post_batch(news)
        response = self.client.send(call)
        if failure := response.failure(call):
            raise EmulatorError(f"A POST of a batch failed: {failure}.")
        results = json.loads(response.body)["results"]
        if refused := [result for result in results if result["status"] != calls.CREATED]:
            raise EmulatorError(f"A schedule of a batch was refused: {refused[0]}.")
        return {result["schedule"]["scheduleId"]: due for result, due in zip(results, times, strict=True)}

    def cancel(self, schedule_id: str) -> str:
        answers = {200: CANCELLED, 409: TOO_LATE}
        return answers.get(self.client.send(calls.delete(schedule_id)).status, UNANSWERED)

    def kill(self) -> None:
        for number in workers_of(self.leader):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    def restart(self) -> None:
        """The emulator does it when something is to be done."""

    def waiting(self, missing: Collection[str]) -> int:
        return sum(self.state_of(one) in STILL_TO_COME for one in missing)

    def state_of(self, schedule_id: str) -> str:
        """As GET says."""
        response = self.client.send(calls.get(schedule_id))
        return str(json.loads(response.body)["state"]) if response.status == calls.OK else "unknown"

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
