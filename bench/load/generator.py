"""Creates schedules in a stack, and waits for the requests that arrive."""

import itertools
import random
import time
from collections.abc import Callable, Mapping, Sequence

from attrs import field, frozen

from bench.command.progress import counter, progress_bar
from bench.load import due_times
from bench.load.arrivals import Arrival
from bench.load.calls import NewSchedule
from bench.load.clients import Clients
from bench.load.due_times import MINUTE, SECOND
from bench.load.series import NewSeries, due_of, post, spread
from local.command.progress import console
from local.emulator.metering.meter import Reading
from local.errors import EmulatorError
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack

MARGIN_SECONDS = 5  # by which POSTing may take longer than expected
LONGEST_WAIT_SECONDS = 60  # after the last point in time
POLL_SECONDS = 0.5  # between two checks of the receiver
SETTLE_SECONDS = 3  # after the last arrival: outcomes are written, and a second request would arrive
LIVE_AHEAD_SECONDS = (2, 5)
WARM_UP = 100  # schedules

DueTimes = Callable[[int], list[int]]  # start (epoch ms) -> points in time


@frozen(kw_only=True)
class LoadGenerator:
    """A running stack, the target of its schedules, and the clients of its API."""

    stack: EmulatedStack
    receiver: Receiver
    clients: Clients
    period_ms: int  # the delayer period
    posts_per_second: list[float] = field(factory=list)  # of each round of POSTs so far

    def warm_up(self) -> None:
        """Run two small bursts, so that every function's processes have started before anything is measured."""
        for number in (1, 2):
            path, title = f"/warm-up-{number}", f"Warming up, {number} of 2"
            due = self.post(path, due_times.at_once(now() + 8 * SECOND, WARM_UP), f"{title}: POSTing")
            self.wait_for_arrivals(path, due, f"{title}: firing")

    def run_swept(self, runs: Mapping[str, DueTimes]) -> dict[str, dict[str, int]]:
        """Run schedules that wait in the table until the minute task sweeps them; id -> due by path.

        `runs` holds due times by path of the receiver. They are computed from the start of the first minute in which
        schedules are due. All are POSTed before; each sweep is made as soon as it is possible.
        """
        count = sum(len(times(0)) for times in runs.values())
        expected = count / self.posts_per_second[-1] + MARGIN_SECONDS
        start = due_times.first_minute_to_sweep(now() + round(expected * SECOND), self.period_ms)
        due = {path: self.post(path, times(start), f"POSTing for {path}") for path, times in runs.items()}
        for minute in minutes_of(itertools.chain.from_iterable(one.values() for one in due.values())):
            self.sweep(minute)
        for path in runs:
            self.wait_for_arrivals(path, due[path], f"Firing {path}")
        return due

    def run_series(self, path: str, count: int, minutes: int) -> tuple[list[NewSeries], Reading]:
        """POST series ahead, and run them for some minutes. Metered from their first time to the end of the last.

        A tick each minute sweeps nothing: an occurrence is put a minute before it is due, within the delayer period.
        """
        expected = count / self.posts_per_second[-1] * 2 + MARGIN_SECONDS  # a series is several items
        start = due_times.first_minute_to_sweep(now() + round(expected * SECOND), self.period_ms)
        series = spread(count, start, minutes, self.receiver.url + path)
        with progress_bar(f"POSTing for {path}", count) as advance:
            self.clients.send_all([post(new) for new in series], counter(advance))
        warn_if_behind(time.time() - start / SECOND)
        self.stack.reset_meter()
        self.sweep(start)
        self.wait_for_arrivals(path, due_of(series), f"Firing {path}")
        return series, self.stack.meter()

    def run_beside(self, path: str, times: DueTimes, other: str, other_path: str) -> dict[str, int]:
        """Run schedules for the receiver beside as many for another target, at the same instants; id -> due."""
        expected = 2 * len(times(0)) / self.posts_per_second[-1] + MARGIN_SECONDS
        start = due_times.first_minute_to_sweep(now() + round(expected * SECOND), self.period_ms)
        self.post(other_path, times(start), f"POSTing for {other_path}", base=other)
        due = self.post(path, times(start), f"POSTing for {path}")
        for minute in minutes_of(itertools.chain(due.values())):
            self.sweep(minute)
        self.wait_for_arrivals(path, due, f"Firing {path}")
        return due

    def sweep(self, minute: int) -> None:
        """Wait until a minute can be swept, and invoke the minute task."""
        until = due_times.sweep_at(minute, self.period_ms) + SECOND
        self.wait_until(until, f"Waiting until the minute {clock(minute)} can be swept")
        with progress_bar(f"Sweeping the minute {clock(minute)}", 1) as advance:
            self.stack.invoke("task-1minute-enqueuer", {})
            advance(1)

    def run_live(self, path: str, rate: int, seconds: int) -> dict[str, int]:
        """POST at a steady rate, each a few seconds before it is due, while the earlier ones fire; id -> due."""
        chance = random.Random(rate)
        began = time.time() + 1
        moments = []
        for number in range(rate * seconds):
            at = began + number / rate
            due_ms = round((at + chance.uniform(*LIVE_AHEAD_SECONDS)) * SECOND)
            moments.append((at, NewSchedule(due=due_ms, target=self.receiver.url + path)))
        title = f"POSTing for {path}, {LIVE_AHEAD_SECONDS[0]} to {LIVE_AHEAD_SECONDS[1]} s ahead"
        with progress_bar(title, len(moments)) as advance:
            due = self.clients.post_at(moments, counter(advance))
        warn_if_behind(time.time() - moments[-1][0])
        self.wait_for_arrivals(path, due, f"Firing {path}")
        return due

    def post(self, path: str, times: Sequence[int], title: str, base: str = "") -> dict[str, int]:
        """POST schedules for these points in time, for the receiver or the target at `base`; id -> due."""
        began = time.monotonic()
        with progress_bar(title, len(times)) as advance:
            schedules = [NewSchedule(due=at, target=(base or self.receiver.url) + path) for at in times]
            due = self.clients.post_all(schedules, counter(advance))
        self.posts_per_second.append(len(times) / (time.monotonic() - began))
        return due

    def wait_for_arrivals(self, path: str, due: Mapping[str, int], title: str) -> None:
        """Wait until as many requests have arrived as schedules are due, or until time is up; then a little longer."""
        deadline = max(due.values()) / SECOND + LONGEST_WAIT_SECONDS
        with progress_bar(title, len(due)) as advance:
            while (arrived := self.receiver.counts[path]) < len(due) and time.time() < deadline:
                if not self.stack.process.is_running():
                    raise EmulatorError(f"The emulator has ended: {self.stack.process.last_line()}.")
                advance(arrived)
                time.sleep(POLL_SECONDS)
            advance(arrived)
        time.sleep(SETTLE_SECONDS)

    def arrivals(self, path: str) -> list[Arrival]:
        """What has reached the receiver at this path."""
        return [
            Arrival(schedule_id=request.headers.get("idempotency-key", ""), at_ms=request.at_ms)
            for request in self.receiver.of(path)
        ]

    def wait_until(self, instant: int, title: str) -> None:
        """Wait until an instant (epoch ms) and show the seconds; do not wait if it is less than one second away."""
        seconds = (instant - now()) // SECOND
        if seconds <= 0:
            return
        with progress_bar(title, seconds) as advance:
            while (left := (instant - now()) / SECOND) > 0:
                advance(seconds - round(left))
                time.sleep(min(left, 1))
            advance(seconds)


def warn_if_behind(seconds: float) -> None:
    """Print a warning if the POSTs took longer than planned: schedules may have been overdue when they were POSTed."""
    if seconds > 1:
        console.print(f"  The POSTs ended {seconds:.1f} s behind their plan; the lateness of this run includes that.")


def minutes_of(instants: itertools.chain[int]) -> list[int]:
    """The starts of the minutes that contain these instants, in order."""
    return sorted({instant // MINUTE * MINUTE for instant in instants})


def clock(instant: int) -> str:
    """Hours and minutes, UTC."""
    return time.strftime("%H:%M", time.gmtime(instant / SECOND))


def now() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000
