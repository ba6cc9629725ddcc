"""What is measured of each scheduler, in the same way for all."""

import itertools
import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from attrs import field, frozen

from bench.command.progress import progress_bar
from bench.load import due_times
from bench.load.arrivals import Arrival
from bench.load.due_times import SECOND
from bench.load.generator import now, warn_if_behind
from bench.measure.lateness import Lateness, NothingArrived, summarise
from bench.peers.contender import Contender, Memory
from bench.peers.outcome import Cancels, Crash, Growth, missing
from bench.peers.outcome import cancels as cancels_of
from bench.peers.outcome import crash as crash_of
from local.receiver import Receiver

POLL_SECONDS = 0.02
SETTLE_SECONDS = 3  # after the last arrival: a second one would come
LONGEST_WAIT_SECONDS = 150
QUIET_SECONDS = 20  # without an arrival: nothing more comes
LONGEST_FILLING_SECONDS = 30  # until what was scheduled is where it waits
LEAD_SECONDS = 4  # beyond the time that scheduling is expected to take
WARM_UP = 100
SUPERVISOR_SECONDS = 2  # until what was killed is started again
CANCELS_PER_SECOND = 10
CANCELLERS = 4
CANCELLED_AHEAD_MS = ((0, SECOND), (0, 50), (-50, 0))
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
        times = due_times.at_once(self.start_for(WARM_UP), WARM_UP)
        self.wait("/warm-up", self.schedule("/warm-up", times))

    def start_for(self, count: int) -> int:
        """A point in time at which so many will have been scheduled."""
        rate = min([*self.speeds[-1:], self.contender.fills_per_second])
        return now() + round((count / rate * 1.2 + LEAD_SECONDS) * SECOND)

    def schedule(self, path: str, times: Sequence[int]) -> Mapping[str, int]:
        """Schedule all of them; id -> point in time. Says so if the first was due by then."""
        began = time.monotonic()
        due = self.contender.schedule(self.receiver.url + path, times)
        self.speeds.append(len(times) / (time.monotonic() - began))
        warn_if_behind((now() - min(times)) / SECOND)
        return due

    def steady(self) -> list[Lateness]:
        """So many a second, scheduled ahead."""
        rate, seconds = self.sizes.rate, self.sizes.seconds
        times = due_times.evenly(self.start_for(rate * seconds), rate, seconds)
        return self.lateness(f"{rate}/s", "/steady", times)

    def burst(self) -> list[Lateness]:
        """Within one second."""
        count = self.sizes.burst
        return self.lateness(
            f"{count} within a second", "/burst", due_times.within_a_second(self.start_for(count), count)
        )

    def at_once(self) -> list[Lateness]:
        """At one instant."""
        count = self.sizes.at_once
        return self.lateness(f"{count} at one instant", "/at-once", due_times.at_once(self.start_for(count), count))

    def lateness(self, name: str, path: str, times: Sequence[int]) -> list[Lateness]:
        """Schedule, wait and count. Nothing if nothing has arrived."""
        due = self.schedule(path, times)
        self.wait(path, due)
        try:
            return [summarise(name, due, self.arrivals(path))]
        except NothingArrived:
            return []

    def crash(self) -> Crash:
        """Kill everything that works when a third of a burst has arrived, and start it again."""
        count, path = self.sizes.crash, "/crash"
        due = self.schedule(path, due_times.at_once(self.start_for(count), count))
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
        path, chance, count = "/cancel", random.Random(self.sizes.cancels), self.sizes.cancels
        times = due_times.evenly(self.start_for(count) + SECOND, CANCELS_PER_SECOND, count // CANCELS_PER_SECOND)
        due = self.schedule(path, times)
        spans = itertools.cycle(CANCELLED_AHEAD_MS)
        moments = sorted((at - chance.randrange(*next(spans)), one) for one, at in due.items())

        def cancel(moment: tuple[int, str]) -> tuple[str, str]:
            at, schedule_id = moment
            time.sleep(max(at - now(), 0) / SECOND)
            return schedule_id, self.contender.cancel(schedule_id)

        with ThreadPoolExecutor(CANCELLERS) as threads:
            answers = dict(threads.map(cancel, moments))
        time.sleep(SETTLE_SECONDS)
        return cancels_of(answers, {one.schedule_id for one in self.arrivals(path)})

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
