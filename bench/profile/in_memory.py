"""What a schedule costs on the fakes, from its POST to its end: our own code, without AWS, boto3 or a network.

All functions are those of Delayer, in one process, on the stack of `delayer_client.testing`: its tables are SQLite in
memory. One schedule is POSTed and fired after the other, so no two share a request. The journal is on.
"""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from types import FrameType
from typing import Any, Final

from attrs import frozen

from bench.profile.options import Options
from delayer.http.requests import ApiRequest, Caller
from delayer.schedule.instants import MINUTE, SECOND
from delayer.wiring.in_memory import START
from delayer_client.testing import Answer
from delayer_client.testing.stack import FakeStack
from local.project import PROJECT

WARM: Final = 20  # schedules before those that are measured
AHEAD: Final = 5  # seconds from the POST to the point in time
OURS: Final = str(PROJECT / "shared/delayer")
REQUEST: Final = {
    "delaySeconds": AHEAD,
    "action": {"type": "http-request", "url": "https://reports.example.com/daily", "headers": {"X-Team": "reports"}},
    "payload": {"number": 1, "text": "Done.", "of": ["a", "b"]},
    "retry": {"maxAttempts": 5},
    "tags": {"team": "reports"},
}


@frozen(kw_only=True)
class InMemory:
    """What one schedule has used. Times are medians, in milliseconds of processor time."""

    runs: int
    post_ms: float
    fire_ms: float
    post_calls: int  # of functions in shared/delayer
    fire_calls: int  # the same, from the stream to the journal


def measure_in_memory(options: Options) -> InMemory:
    """Of as many schedules as the options say, and the calls of one more."""
    stack = FakeStack(start=START, answers=lambda _: Answer.succeed())
    for _ in range(WARM):
        _post(stack)
        _fire(stack)
    timed = [(_seconds(partial(_post, stack)), _seconds(partial(_fire, stack))) for _ in range(options.runs)]
    return InMemory(
        runs=options.runs,
        post_ms=1000 * median(post for post, _ in timed),
        fire_ms=1000 * median(fire for _, fire in timed),
        post_calls=_calls(partial(_post, stack)),
        fire_calls=_calls(partial(_fire, stack)),
    )


def _post(stack: FakeStack) -> None:
    """Raises AssertionError if it is refused: what was measured would be worthless."""
    caller = Caller(address="127.0.0.1")
    request = ApiRequest(route="POST /schedules", path="/schedules", body=json.dumps(REQUEST).encode(), caller=caller)
    answer = stack.function("api-schedule-post").handler.answer(request)
    if answer.status != 201:
        raise AssertionError(f"the POST was answered {answer.status}: {answer.body}")


def _fire(stack: FakeStack) -> None:
    """All that follows from it. Raises AssertionError if its target was not reached once."""
    stack.targets.reached.clear()
    stack.settle()
    stack.run_until(stack.clock.now() + AHEAD * SECOND)
    stack.run_until(stack.clock.now() + MINUTE)  # nothing is left in a queue
    if len(stack.targets.reached) != 1:
        raise AssertionError(f"the target was reached {len(stack.targets.reached)} times")


def _seconds(do: Callable[[], None]) -> float:
    began = time.process_time()
    do()
    return time.process_time() - began


def _calls(do: Callable[[], None]) -> int:
    """Of our functions. One that was made from a line of a class, or from `attrs`, is not ours."""
    count = 0

    def profile(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        count += event == "call" and frame.f_code.co_filename.startswith(OURS)

    sys.setprofile(profile)
    try:
        do()
    finally:
        sys.setprofile(None)
    return count
