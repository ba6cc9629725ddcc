"""A stack is at rest when nothing of it is under way: each kind of work is counted, and named for the user."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from local.emulator.keeping.doors import Doors
from local.emulator.keeping.under_way import UnderWay
from local.emulator.keeping.work import Work

IN_FLIGHT = "_esm_inflight"  # ministack's name


def without_records() -> Any:
    """As StreamPoller, without a mapping."""
    return SimpleNamespace(mappings={})


class Stack:
    """At rest, until a test says otherwise."""

    def __init__(self) -> None:
        self.running: dict[str, int] = {}
        self.service: Any = SimpleNamespace(
            **{IN_FLIGHT: {}},
            executions_in_flight=lambda: (sum(self.running.values()), self.running),
            invoke_async_with_retry=None,
            threading=threading,
        )
        self.doors, self.work = Doors(), Work()
        self.streams: Any = without_records()
        self.under_way = UnderWay(self.service, self.doors, self.work, self.streams)

    def add_mapping(self, function: str, *records: int) -> None:
        mapping = SimpleNamespace(function=function, left=lambda: list(records))
        self.streams.mappings[len(self.streams.mappings)] = mapping


@pytest.fixture
def stack() -> Stack:
    return Stack()


def test_at_rest_there_is_nothing(stack: Stack) -> None:
    stack.add_mapping("delayer-stream-enqueuer")
    assert stack.under_way.left() == {}


def test_each_kind_of_work_is_counted(stack: Stack) -> None:
    stack.doors.inside.update(api=1, aws=2)
    stack.work.passes = 1
    getattr(stack.service, IN_FLIGHT).update(a=2, b=1)
    stack.running = {"000000000000:us-east-1:delayer-executor-http-request": 4}
    for _ in ("SchedulesTable", "LedgerTable"):
        stack.add_mapping("delayer-stream-lifecycle", 1, 2)
    assert stack.under_way.left() == {
        "requests to the API": 1,
        "ticks and batches that begin": 1,
        "batches of queues": 3,
        "invocations of executor-http-request": 4,
        "stream records for stream-lifecycle": 4,
        "requests of functions": 2,
    }
