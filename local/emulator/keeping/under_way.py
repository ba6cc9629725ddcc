"""Knows what is under way: a stack is at rest when there is nothing of it left."""

from typing import Any

from local.emulator.keeping.doors import Doors
from local.emulator.keeping.work import Asynchronous, Work
from local.emulator.observer import folder_of
from local.emulator.patches.streams import StreamPoller

Left = dict[str, int]  # in words -> how many


class UnderWay:
    """Counts it."""

    def __init__(self, lambda_service: Any, doors: Doors, work: Work, streams: StreamPoller) -> None:
        self.service = lambda_service
        self.doors, self.work, self.streams = doors, work, streams
        self.asynchronous = Asynchronous(lambda_service)

    def left(self) -> Left:
        """Counts the work that is not done yet, by what it is; empty at rest.

        In the order in which one thing makes another: what has moved on meanwhile is seen where it has come to.
        """
        left: Left = {
            "requests to the API": self.doors.inside["api"],
            "ticks and batches that begin": self.work.passes,
            "batches of queues": sum(self.service._esm_inflight.values()),
            "asynchronous invocations": self.asynchronous.count(),
        }
        for key, count in self.service.executions_in_flight()[1].items():
            left[f"invocations of {folder_of(key.rpartition(':')[2])}"] = count
        for mapping in list(self.streams.mappings.values()):
            named = f"stream records for {folder_of(mapping.function)}"
            left[named] = left.get(named, 0) + len(mapping.left())
        left["requests of functions"] = self.doors.inside["aws"]
        return {name: count for name, count in left.items() if count}
