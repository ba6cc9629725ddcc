"""Runs schedules against a stack and waits for what arrives."""

import itertools
import random
import time
from collections.abc import Callable, Mapping, Sequence

from attrs import field, frozen

from bench import due_times
from bench.calls import Wanted
from bench.clients import Clients
from bench.due_times import MINUTE, SECOND
from bench.lateness import Arrival
from bench.progress import Advance, counting
from local.errors import LocalStackError
from local.progress import console
from local.receiver import Receiver
from local.stack import LocalStack

MARGIN_SECONDS = 5  # that POSTing may take longer than expected
PATIENCE_SECONDS = 60  # after the last point in time
LOOK_SECONDS = 0.5  # between two looks at the receiver
SETTLE_SECONDS = 3  # after the last arrival: outcomes are written, doubles would show
LIVE_AHEAD_SECONDS = (2, 5)
WARM_UP = 100

DueTimes = Callable[[int], list[int]]  # start (epoch ms) -> points in time


@frozen(kw_only=True)
class Bench:
    """A running stack, its target, and clients."""

    stack: LocalStack
    receiver: Receiver
    clients: Clients
    period_ms: int
    posts_per_second: list[float] = field(factory=list)  # of each round of POSTs so far

    def warm_up(self) -> None:
        """Two small bursts, so that every function's processes are there before anything counts."""
        for number in (1, 2):
            path, title = f"/warm-up-{number}", f"Warming up, {number} of 2"
            due = self.post(path, due_times.at_once(now() + 8 * SECOND, WARM_UP), f"{title}: POSTing")
            self.await_arrivals(path, due, f"{title}: firing")

    def swept(self, runs: Mapping[str, DueTimes]) -> dict[str, dict[str, int]]:
        """Run schedules that wait in the table until the minute task sweeps them.

        `runs` holds due times by path of the receiver, given the start of the minute in which all are due, or
        begin to be. They are POSTed before; the sweep is done as soon as it may be. Answers id -> due by path.
        """
        count = sum(len(times(0)) for times in runs.values())
        expected = count / self.posts_per_second[-1] + MARGIN_SECONDS
        start = due_times.first_minute_to_sweep(now() + round(expected * SECOND), self.period_ms)
        due = {path: self.post(path, times(start), f"POSTing for {path}") for path, times in runs.items()}
        for minute in minutes_of(itertools.chain.from_iterable(one.values() for one in due.values())):
            self.sweep(minute)
        for path in runs:
            self.await_arrivals(path, due[path], f"Firing {path}")
        return due

    def sweep(self, minute: int) -> None:
        """Wait until a minute may be swept, and have the minute task do it."""
        until = due_times.sweep_at(minute, self.period_ms) + SECOND
        self.wait_until(until, f"Waiting until the minute {clock(minute)} may be swept")
        with counting(f"Sweeping the minute {clock(minute)}", 1) as advance:
            self.stack.invoke("task-1minute-enqueuer", {})
            advance(1)

    def live(self, path: str, rate: int, seconds: int) -> dict[str, int]:
        """POST at a steady rate, each a few seconds before it is due, while the earlier ones fire; id -> due."""
        chance = random.Random(rate)
        began = time.time() + 1
        moments = []
        for number in range(rate * seconds):
            at = began + number / rate
            ahead = chance.uniform(*LIVE_AHEAD_SECONDS)
            moments.append((at, Wanted(round((at + ahead) * SECOND), self.receiver.url + path)))
        title = f"POSTing for {path}, {LIVE_AHEAD_SECONDS[0]} to {LIVE_AHEAD_SECONDS[1]} s ahead"
        with counting(title, len(moments)) as advance:
            due = self.clients.post_at(moments, counter(advance))
        tell_if_behind(time.time() - moments[-1][0])
        self.await_arrivals(path, due, f"Firing {path}")
        return due

    def post(self, path: str, times: Sequence[int], title: str) -> dict[str, int]:
        """POST schedules for these points in time; id -> due."""
        began = time.monotonic()
        with counting(title, len(times)) as advance:
            wanted = [Wanted(at, self.receiver.url + path) for at in times]
            due = self.clients.post_all(wanted, counter(advance))
        self.posts_per_second.append(len(times) / (time.monotonic() - began))
        return due

    def await_arrivals(self, path: str, due: Mapping[str, int], title: str) -> None:
        """Wait until as many have arrived as are due, or until patience ends; then a little more."""
        deadline = max(due.values()) / SECOND + PATIENCE_SECONDS
        with counting(title, len(due)) as advance:
            while (arrived := self.receiver.counts[path]) < len(due) and time.time() < deadline:
                if not self.stack.process.is_running():
                    raise LocalStackError(f"The embedded AWS has ended: {self.stack.process.last_line()}.")
                advance(arrived)
                time.sleep(LOOK_SECONDS)
            advance(arrived)
        time.sleep(SETTLE_SECONDS)

    def arrivals(self, path: str) -> list[Arrival]:
        """What has reached the receiver at this path."""
        return [
            Arrival(delivery.headers.get("idempotency-key", ""), delivery.at_ms) for delivery in self.receiver.of(path)
        ]

    def wait_until(self, instant: int, title: str) -> None:
        """Wait until an instant (epoch ms), showing the seconds; not at all for less than one."""
        seconds = (instant - now()) // SECOND
        if seconds <= 0:
            return
        with counting(title, seconds) as advance:
            while (left := (instant - now()) / SECOND) > 0:
                advance(seconds - round(left))
                time.sleep(min(left, 1))
            advance(seconds)


def tell_if_behind(seconds: float) -> None:
    """Say that POSTs took longer than planned: what was POSTed late may have been overdue when it was."""
    if seconds > 1:
        console.print(f"  The POSTs ended {seconds:.1f} s behind their plan; the lateness of this run includes that.")


def counter(advance: Advance) -> Callable[[], None]:
    """Counts its calls and shows the count."""
    numbers = itertools.count(1)
    return lambda: advance(next(numbers))


def minutes_of(instants: itertools.chain[int]) -> list[int]:
    """The starts of the minutes in which these instants are, in order."""
    return sorted({instant // MINUTE * MINUTE for instant in instants})


def clock(instant: int) -> str:
    """Hours and minutes, UTC."""
    return time.strftime("%H:%M", time.gmtime(instant / SECOND))


def now() -> int:
    """Epoch milliseconds."""
    return time.time_ns() // 1_000_000
