"""The calls of the API, one kind after the other: how many per second, and what AWS would bill for one of them."""

import time
from collections.abc import Callable, Mapping

from attrs import frozen

from bench.command.progress import counter, progress_bar
from bench.load.calls import NewSchedule
from bench.load.clients import Script
from bench.load.due_times import SECOND
from bench.load.generator import LoadGenerator, now
from bench.load.scripts import SCRIPTS, CreatedSchedules
from bench.load.throughput import Throughput
from bench.measure.requests import PerCall, per_call, rows_without_minute_task
from local.command.progress import console, step

AHEAD = 12 * 3600 * SECOND  # so that none of the schedules fires during the measurement
WARM_UP_SECONDS = 0.5  # the calls that have begun by then are finished: each starts a process of the function
QUIET_SECONDS = 2  # without a request of any function
POLL_SECONDS = 0.5
LONGEST_WAIT_SECONDS = 20  # for quiet
GROUP = 150  # schedules; more than one page


@frozen(kw_only=True)
class ApiCall:
    """One row of the table."""

    name: str
    measured: Throughput
    warm_up_failures: Mapping[str, int]  # what came in the warm-up instead of the expected response -> how often
    units: PerCall

    @property
    def is_correct(self) -> bool:
        """Whether there were calls, and all got the expected response."""
        return bool(self.measured.calls) and not self.measured.failed and not self.warm_up_failures

    def failures(self) -> list[str]:
        """A sentence for each kind of unexpected response."""
        if not self.measured.calls:
            return [f"{self.name}: no call was made, because an earlier row left no schedule for it"]
        warm_up = [f"{self.name}, warming up: {times} × {what}" for what, times in self.warm_up_failures.items()]
        return warm_up + [f"{self.name}: {times} × {what}" for what, times in self.measured.failures.items()]


def measure(load: LoadGenerator, seconds: int) -> list[ApiCall]:
    """Measure each row by itself for this long."""
    created = CreatedSchedules(new=NewSchedule(due=now() + AHEAD, target=load.receiver.url))
    fill_group(load, created)
    return [measure_row(load, name, script, created, seconds) for name, script in SCRIPTS.items()]


def fill_group(load: LoadGenerator, created: CreatedSchedules) -> None:
    """POST the schedules of the group that is listed."""
    with progress_bar("POSTing a group", GROUP) as advance:
        load.clients.post_all([created.new] * GROUP, counter(advance), created.group)


def measure_row(
    load: LoadGenerator,
    name: str,
    script: Callable[[CreatedSchedules], Script],
    created: CreatedSchedules,
    seconds: int,
) -> ApiCall:
    """Warm up, measure, and read the meter once the functions behind the call have finished their work."""
    with step(f"{name} for {seconds} s with {load.clients.count} clients"):
        warm_up = load.clients.call_for(WARM_UP_SECONDS, lambda: script(created))
        wait_until_quiet(load)
        load.stack.reset_meter()
        measured = load.clients.call_for(seconds, lambda: script(created))
        wait_until_quiet(load)
        units = per_call(load.stack.meter(), measured.calls)
    return ApiCall(name=name, measured=measured, warm_up_failures=warm_up.failures, units=units)


def wait_until_quiet(load: LoadGenerator) -> None:
    """Wait until no function works any more: streams and queues are processed after the response."""
    deadline = time.monotonic() + LONGEST_WAIT_SECONDS
    last, since = rows_without_minute_task(load.stack.meter()), time.monotonic()
    while time.monotonic() - since < QUIET_SECONDS:
        if time.monotonic() > deadline:
            console.print(
                f"  The functions were still working after {LONGEST_WAIT_SECONDS} s; some of that is not counted."
            )
            return
        time.sleep(POLL_SECONDS)
        rows = rows_without_minute_task(load.stack.meter())
        if rows != last:
            last, since = rows, time.monotonic()
