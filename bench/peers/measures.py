"""What is measured of each scheduler, in the same way for all."""

import itertools
import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from attrs import field, frozen

from bench.command.progress import progress_bar
from bench.load import due_times
from bench.load.arrivals import Arrival
from bench.load.due_times import SECOND
from bench.load.generator import LIVE_AHEAD_SECONDS, DueTimes, now, warn_if_behind
from bench.measure.lateness import Lateness, NothingArrived, summarise
from bench.peers.contender import Contender, Memory
from bench.peers.outcome import Cancels, Crash, Growth, missing
from bench.peers.outcome import cancels as cancels_of
from bench.peers.outcome import crash as crash_of
from local.command.progress import console
from local.receiver import Receiver

POLL_SECONDS = 0.02
SETTLE_SECONDS = 3  # after the last arrival: a second one would come
LONGEST_WAIT_SECONDS = 150
QUIET_SECONDS = 20  # without an arrival: nothing more comes
LONGEST_FILLING_SECONDS = 30  # until what was scheduled is where it waits
LEAD_SECONDS = 5  # beyond the time that scheduling is expected to take
WARM_UP = 100
SUPERVISOR_SECONDS = 2  # until what was killed is started again
CANCELS_PER_SECOND = 10
CANCELLERS = 4
IN_TIME_MS = 50  # ahead of the point in time: a cancel of then might always be taken
CANCELLED_AHEAD_MS = ((0, SECOND), (0, IN_TIME_MS), (-IN_TIME_MS, 0))
CALLERS = 4  # which schedule one by one
FILL_CHUNK = 1000
GROWS = 1.005  # in three seconds
A_YEAR = 365 * 24 * 3600 * SECOND


@frozen(kw_only=True)
class Sizes:
    """How much is measured."""

    rate: int
    seconds: int
    burst: int
    at_once: int
    crash: int
    cancels: int
    waiting: int
    fill_seconds: int
    crash_seconds: int  # for which the rest is waited for at most


@frozen(kw_only=True)
class Measurement:
    """One scheduler, which is running, and the target of its schedules."""

    contender: Contender
    receiver: Receiver
    sizes: Sizes
    speeds: list[float] = field(factory=list)  # at which it could be scheduled so far, per second

    def warm_up(self) -> None:
        """Connections, pools and processes are there before anything is measured."""
        self.wait(*self.ahead("/warm-up", WARM_UP, partial(due_times.at_once, count=WARM_UP)))

    def start_for(self, count: int) -> int:
        """A point in time at which so many will have been scheduled."""
        rate = min(self.speeds[-2:], default=self.contender.fills_per_second)
        return now() + round((count / rate * 1.2 + LEAD_SECONDS) * SECOND)

    def ahead(self, path: str, count: int, times: DueTimes) -> tuple[str, Mapping[str, int]]:
        """The path, and id -> point in time: all are scheduled before the first is due, if need be at a second try."""
        for one in (path, f"{path}-again"):
            points = times(self.start_for(count))
            due, began = self.schedule(one, points), min(points)
            if now() < began or one != path:
                break
            console.print(f"  {path} was scheduled {(now() - began) / SECOND:.1f} s too late, and is repeated.")
            self.wait(one, due)
        warn_if_behind((now() - began) / SECOND)
        return one, due

    def schedule(self, path: str, times: Sequence[int]) -> Mapping[str, int]:
        """Schedule all of them, and note how fast; id -> point in time."""
        began = time.monotonic()
        due = self.contender.schedule(self.receiver.url + path, times)
        self.speeds.append(len(times) / (time.monotonic() - began))
        return due

    def steady(self) -> list[Lateness]:
        """So many a second, scheduled ahead."""
        rate, seconds = self.sizes.rate, self.sizes.seconds
        times = partial(due_times.evenly, rate=rate, seconds=seconds)
        return self.lateness(f"{rate}/s", "/steady", rate * seconds, times)

    def beside_posts(self) -> list[Lateness]:
        """So many a second, each scheduled by a call of its own a few seconds ahead, while earlier ones fire."""
        rate, path = self.sizes.rate, "/beside-posts"
        chance, began = random.Random(rate), now() + SECOND
        moments = [
            (at, at + round(chance.uniform(*LIVE_AHEAD_SECONDS) * SECOND))
            for at in due_times.evenly(began, rate, self.sizes.seconds)
        ]

        def schedule(moment: tuple[int, int]) -> Mapping[str, int]:
            at, due = moment
            time.sleep(max(at - now(), 0) / SECOND)
            return self.contender.schedule(self.receiver.url + path, [due])

        with ThreadPoolExecutor(CALLERS) as threads:
            due = {one: at for done in threads.map(schedule, moments) for one, at in done.items()}
        warn_if_behind((now() - moments[-1][0]) / SECOND)
        return self.summary(f"{rate}/s beside POSTs", path, due)

    def burst(self) -> list[Lateness]:
        """Within one second."""
        count = self.sizes.burst
        times = partial(due_times.within_a_second, count=count)
        return self.lateness(f"{count} within a second", "/burst", count, times)

    def at_once(self) -> list[Lateness]:
        """At one instant."""
        count = self.sizes.at_once
        return self.lateness(f"{count} at one instant", "/at-once", count, partial(due_times.at_once, count=count))

    def lateness(self, name: str, path: str, count: int, times: DueTimes) -> list[Lateness]:
        """Schedule all ahead, wait and count."""
        return self.summary(name, *self.ahead(path, count, times))

    def summary(self, name: str, path: str, due: Mapping[str, int]) -> list[Lateness]:
        """Wait and count. Nothing if nothing has arrived."""
        self.wait(path, due)
        try:
            return [summarise(name, due, self.arrivals(path))]
        except NothingArrived:
            return []

    def crash(self) -> Crash:
        """Kill everything that works when a third of a burst has arrived, and start it again."""
        count = self.sizes.crash
        path, due = self.ahead("/crash", count, partial(due_times.at_once, count=count))
        while self.receiver.counts[path] < count // 3 and now() < max(due.values()) + QUIET_SECONDS * SECOND:
            time.sleep(POLL_SECONDS)
        self.contender.kill()
        killed_at = now()
        time.sleep(SUPERVISOR_SECONDS)
        self.contender.restart()
        self.wait(path, due, quiet=min(self.contender.comes_back_seconds, self.sizes.crash_seconds))
        absent = missing(due, self.arrivals(path))
        waiting = self.contender.waiting(absent) if absent else 0
        return crash_of(due, self.arrivals(path), killed_at=killed_at, ended_at=now(), waiting=waiting)

    def cancels(self) -> Cancels:
        """Cancel a third in the last second before they are due, a third in the last 50 ms, a third in the 50 after."""
        chance, count = random.Random(self.sizes.cancels), self.sizes.cancels
        times = partial(due_times.evenly, rate=CANCELS_PER_SECOND, seconds=count // CANCELS_PER_SECOND)
        path, due = self.ahead("/cancel", count, times)
        spans = itertools.cycle(CANCELLED_AHEAD_MS)
        moments = sorted((at - chance.randrange(*next(spans)), one) for one, at in due.items())

        def cancel(moment: tuple[int, str]) -> tuple[str, int, str]:
            at, schedule_id = moment
            time.sleep(max(at - now(), 0) / SECOND)
            return schedule_id, now(), self.contender.cancel(schedule_id)

        with ThreadPoolExecutor(CANCELLERS) as threads:
            done = list(threads.map(cancel, moments))
        time.sleep(SETTLE_SECONDS)
        answers = {one: answer for one, _, answer in done}
        in_time = {one for one, asked_at, _ in done if due[one] - asked_at >= IN_TIME_MS}
        return cancels_of(answers, {one.schedule_id for one in self.arrivals(path)}, in_time)

    def growth(self) -> Growth | None:
        """Schedule many a year ahead, as long as there is time, and see what they take."""
        before, scheduled, began = self.contender.memory(), 0, time.monotonic()
        with progress_bar("Filling", self.sizes.waiting) as advance:
            while scheduled < self.sizes.waiting and time.monotonic() - began < self.sizes.fill_seconds:
                count = min(FILL_CHUNK, self.sizes.waiting - scheduled)
                self.contender.schedule(self.receiver.url + "/never", due_times.at_once(now() + A_YEAR, count))
                scheduled += count
                advance(scheduled)
        after = self.at_rest()
        return Growth(waiting=scheduled, before=before, after=after) if before and after else None

    def at_rest(self) -> Memory | None:
        """The memory when it grows no more, or after half a minute: what was scheduled may still be on its way."""
        last, deadline = self.contender.memory(), time.monotonic() + LONGEST_FILLING_SECONDS
        while last and time.monotonic() < deadline:
            time.sleep(SETTLE_SECONDS)
            memory = self.contender.memory()
            if not memory or memory.processes_mb < last.processes_mb * GROWS:
                return memory
            last = memory
        return last

    def wait(self, path: str, due: Mapping[str, int], quiet: int = QUIET_SECONDS) -> None:
        """Until all have arrived, or until nothing has come for so many seconds; then a little longer."""
        last, arrived, left = max(now(), max(due.values())), 0, len(due)
        deadline = last + LONGEST_WAIT_SECONDS * SECOND
        with progress_bar(f"Firing {path}", len(due)) as advance:
            while left and now() < min(last + quiet * SECOND, deadline):
                time.sleep(POLL_SECONDS)
                if self.receiver.counts[path] > arrived:
                    arrived, last = self.receiver.counts[path], max(now(), last)
                    left = len(missing(due, self.arrivals(path))) if arrived >= len(due) else len(due) - arrived
                    advance(arrived)
        time.sleep(SETTLE_SECONDS)

    def arrivals(self, path: str) -> list[Arrival]:
        """What has reached the receiver at this path."""
        return [
            Arrival(schedule_id=request.headers.get("idempotency-key", ""), at_ms=request.at_ms)
            for request in self.receiver.of(path)
        ]
