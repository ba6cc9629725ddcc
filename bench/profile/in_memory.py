"""What a schedule costs on the fakes, from its POST to its end: our own code, without AWS, boto3 or a network.

All functions are those of Delayer, in one process, on the stack of `delayer_client.testing`: its tables are SQLite in
memory. A hundred schedules are POSTed, and are then due at the same instant. The journal is on.
"""

import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from statistics import median
from types import FrameType
from typing import Any, Final

from attrs import define, field, frozen

from bench.profile.fake_stack import FakeStack
from bench.profile.options import Options
from delayer.http.requests import ApiRequest, Caller
from delayer.schedule.instants import SECOND
from delayer.wiring.in_memory import START
from delayer_client.testing import Answer
from local.project import PROJECT

TOGETHER: Final = 100  # schedules in one round
WARM: Final = 2  # rounds before those that are measured
AHEAD: Final = 5  # seconds from the POSTs to the point in time
POST: Final = "api-schedule-post"
BETWEEN: Final = "between the functions"
FIRING: Final = ("stream-enqueuer", "delayer-relay", "executor-*")
EVENTS: Final = ("stream-lifecycle", "lifecycle-journal")
PARTS: Final = (POST, *FIRING, *EVENTS, BETWEEN)
OURS: Final = str(PROJECT / "shared/delayer/")
FAKES: Final = (
    "engines/memory/",
    "engines/sqlite/store.py",
    "lambdas/memory_stream.py",
    "wiring/in_memory.py",
    "wiring/pump.py",
)
REQUEST: Final = {
    "delaySeconds": AHEAD,
    "action": {"type": "http-request", "url": "https://reports.example.com/daily", "headers": {"X-Team": "reports"}},
    "payload": {"number": 1, "text": "Done.", "of": ["a", "b"]},
    "retry": {"maxAttempts": 5},
    "tags": {"team": "reports"},
}


@frozen(kw_only=True)
class Part:
    """What one schedule has used in one of the functions, or in several."""

    name: str
    cpu_ms: float  # processor time, the median of the rounds
    calls: float  # of functions in shared/delayer that run on AWS, too


@define
class Meter:
    """Which function runs, and what it uses."""

    runs: str = BETWEEN
    seconds: dict[str, float] = field(factory=partial(defaultdict, float))
    calls: Counter[str] = field(factory=Counter)
    since: float = field(factory=time.process_time)

    @contextmanager
    def within(self, name: str) -> Iterator[None]:
        """All that is done now is done by this function."""
        before = self.enter(name)
        try:
            yield
        finally:
            self.enter(before)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Calls are counted, which takes a multiple of the time."""
        sys.setprofile(self._profile)
        try:
            yield
        finally:
            sys.setprofile(None)

    def enter(self, name: str) -> str:
        """From now on this function runs. Returns the one before it."""
        now, before = time.process_time(), self.runs
        self.seconds[before] += now - self.since
        self.since, self.runs = now, name
        return before

    def _profile(self, frame: FrameType, event: str, _: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(OURS) and not file[len(OURS) + 1 :].startswith(FAKES):
            self.calls[self.runs] += 1


def measure_in_memory(options: Options) -> list[Part]:
    """Each of the functions, and their sums. A round has a hundred of the schedules that the options ask for."""
    stack, meter = FakeStack(start=START, answers=lambda _: Answer.succeed()), Meter()
    stack.uses = {name: partial(_metered, meter, name, use) for name, use in stack.uses.items()}
    for _ in range(WARM):
        _round(stack, meter)
    rounds = [_round(stack, meter) for _ in range(-(-options.runs // TOGETHER))]
    meter.calls.clear()
    with meter.counting():
        _round(stack, meter)
    parts = [
        Part(
            name=name,
            cpu_ms=1000 * median(one[name] for one in rounds) / TOGETHER,
            calls=meter.calls[name] / TOGETHER,
        )
        for name in PARTS
    ]
    return [*parts, _sum("from the POST to the hand-over", parts[:3]), _sum("in all", parts)]


def _metered(meter: Meter, name: str, use: Callable[[Any], object], batch: Any) -> object:
    with meter.within(name):
        return use(batch)


def _sum(name: str, parts: Sequence[Part]) -> Part:
    return Part(name=name, cpu_ms=sum(one.cpu_ms for one in parts), calls=sum(one.calls for one in parts))


def _round(stack: FakeStack, meter: Meter) -> Mapping[str, float]:
    """The seconds of each function. Raises AssertionError if a target was not reached: nothing was measured then."""
    meter.seconds.clear()
    stack.targets.reached.clear()
    with meter.within(POST):
        for _ in range(TOGETHER):
            _post(stack)
    stack.settle()
    stack.run_until(stack.clock.now() + AHEAD * SECOND)
    if len(stack.targets.reached) != TOGETHER:
        raise AssertionError(f"{len(stack.targets.reached)} of {TOGETHER} targets were reached")
    meter.enter(BETWEEN)
    return {name: meter.seconds[name] for name in PARTS}


def _post(stack: FakeStack) -> None:
    """Raises AssertionError if it is refused."""
    caller = Caller(address="127.0.0.1")
    request = ApiRequest(route="POST /schedules", path="/schedules", body=json.dumps(REQUEST).encode(), caller=caller)
    answer = stack.function(POST).handler.answer(request)
    if answer.status != 201:
        raise AssertionError(f"the POST was answered {answer.status}: {answer.body}")
