"""The events of a run in the order of time, and what they compete for: pollers, environments, processors, writes."""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

from attrs import Factory, define, field, frozen

Seconds = float
Action = Callable[[], None]


@frozen
class Chunk:
    """Messages that travel together: `n` of them, due from `due` on at even distances within `span`."""

    due: Seconds
    span: Seconds
    n: int
    since: Seconds = 0.0  # in its queue

    @property
    def last(self) -> Seconds:
        """When the last of them is due."""
        return self.due + self.span * (self.n - 1) / self.n


@define
class Engine:
    """Time, and what is to happen."""

    now: Seconds = -1e9
    _coming: list[tuple[Seconds, int, Action]] = Factory(list)
    _order: "count[int]" = Factory(count)

    def at(self, when: Seconds, action: Action) -> None:
        """It happens then, after everything that was asked for the same instant before; never in the past."""
        heappush(self._coming, (max(when, self.now), next(self._order), action))

    def run(self) -> None:
        """Until nothing is left to happen."""
        while self._coming:
            self.now, _, action = heappop(self._coming)
            action()


@define(kw_only=True)
class Rate:
    """So many units a second, taken in the order in which they are asked for; what is not taken is not saved up."""

    per_second: float
    _free_at: Seconds = -1e9

    def comes(self, now: Seconds) -> Seconds:
        """When the next one may be taken."""
        return max(self._free_at, now)

    def take(self, now: Seconds, units: float) -> Seconds:
        """When the last of them is there."""
        self._free_at = max(self._free_at, now) + units / self.per_second
        return self._free_at


@define(kw_only=True)
class OwnProcessor:
    """That of an execution environment: a share of one, by its memory; nobody else has it."""

    share: float

    def use(self, now: Seconds, seconds: Seconds, _emulator: Seconds) -> Seconds:
        """When the work is done."""
        return now + seconds / self.share


@define(kw_only=True)
class SharedProcessors:
    """Those of one machine, first come first served, of which the emulator is one process, and so uses one at most."""

    free: list[Seconds]
    _emulator_free: Seconds = -1e9

    def use(self, now: Seconds, seconds: Seconds, emulator: Seconds) -> Seconds:
        """When both the function's work and the emulator's for it are done."""
        core = min(range(len(self.free)), key=self.free.__getitem__)
        self.free[core] = max(self.free[core], now) + seconds + emulator
        self._emulator_free = max(self._emulator_free, now) + emulator
        return max(self.free[core], self._emulator_free)


@define(kw_only=True)
class Account:
    """How many functions it runs at a time."""

    free: int
    waiting: deque["Station"] = Factory(deque)

    def release(self) -> None:
        """Whoever waited longest may begin."""
        self.free += 1
        for _ in range(len(self.waiting)):
            if self.free < 1:
                return
            self.waiting.popleft().pump()


@define(kw_only=True)
class Pollers:
    """How many batches of a mapping are under way at a time: it grows for as long as something waits."""

    allowed: float
    more: float  # each second
    at_most: float
    receives: Rate | None = None  # of all pollers, which grows with them
    polls: float = 0.0  # receives a second for each batch that is allowed
    _since: Seconds | None = None

    def grow(self, now: Seconds, waits: bool) -> None:
        """To be called whenever something arrives, begins or ends."""
        if self._since is not None:
            self.allowed = min(self.at_most, self.allowed + (now - self._since) * self.more)
        self._since = now if waits else None
        if self.receives:
            self.receives.per_second = self.allowed * self.polls

    def next_one(self, now: Seconds) -> Seconds | None:
        """When one batch more is allowed; None if there will be no more."""
        if self.allowed >= self.at_most or self.more <= 0:
            return None
        return now + (int(self.allowed) + 1 - self.allowed) / self.more + 1e-9


Serve = Callable[[list[Chunk], Action], None]  # the batch, and what to do at the end of its function


@define(kw_only=True)
class Station:
    """A queue and the function behind it, or the lanes of a stream."""

    name: str
    engine: Engine
    account: Account
    pollers: Pollers
    serve: Serve
    batch: int
    handed_over: Seconds = 0.0
    cold: Seconds = 0.0
    started_by: SharedProcessors | None = None  # on one machine: they start new environments, too
    new_environments: Rate | None = None  # how fast they come, after the first thousand
    at_once: int = 1_000
    queue: deque[Chunk] = Factory(deque)
    busy: int = 0
    environments: int = 0
    most: int = 0  # that were busy at a time
    batches: int = 0
    seconds: float = 0.0  # that its functions ran
    stayed: float = 0.0  # seconds that batches were under way, from their receive on
    area: float = 0.0  # how many were busy, summed up over time
    waited: dict[str, float] = Factory(dict)  # seconds of messages, by what they waited for
    _blocked: str = ""
    _woken: Seconds | None = field(default=None)

    _counted: Seconds = field(default=0.0)

    def _count(self) -> None:
        """Before `busy` changes."""
        self.area += self.busy * (self.engine.now - self._counted)
        self._counted = self.engine.now

    def put(self, chunk: Chunk) -> None:
        """It can be received from now on."""
        self.queue.append(Chunk(chunk.due, chunk.span, chunk.n, self.engine.now))
        self.pump()

    def pump(self) -> None:
        """Begin what may begin."""
        now = self.engine.now
        self.pollers.grow(now, bool(self.queue))
        while self.queue and self._may_begin(now):
            self._begin(now)
        if not self.queue:
            self.pollers.grow(now, waits=False)

    def _may_begin(self, now: Seconds) -> bool:
        if self.busy + 1 > self.pollers.allowed:
            self._blocked = f"pollers of {self.name}"
            self._wake(self.pollers.next_one(now))
            return False
        if self.pollers.receives and self.pollers.receives.comes(now) > now:
            self._blocked = f"receives of {self.name}"
            self._wake(self.pollers.receives.comes(now))
            return False
        if self.account.free < 1:
            self._blocked = "concurrency of the account"
            if self not in self.account.waiting:
                self.account.waiting.append(self)
            return False
        return True

    def _wake(self, when: Seconds | None) -> None:
        if when is not None and (self._woken is None or self._woken <= self.engine.now):
            self._woken = when
            self.engine.at(when, self.pump)

    def _begin(self, now: Seconds) -> None:
        batch, room = [], self.batch
        while self.queue and self.queue[0].n <= room:
            chunk = self.queue.popleft()
            room -= chunk.n
            batch.append(chunk)
        self._count()
        self.busy += 1
        self.batches += 1
        self.account.free -= 1
        self.most = max(self.most, self.busy)
        if self.pollers.receives:
            self.pollers.receives.take(now, 1)
        ready = self._environment(now)
        for chunk in batch:
            self.note(self._blocked, chunk, max(chunk.since, chunk.due), now)
            self.note(f"new environments of {self.name}", chunk, max(now, chunk.due), ready)
        self.engine.at(ready + self.handed_over, lambda: self._serve(batch, now))

    def _serve(self, batch: list[Chunk], received: Seconds) -> None:
        began = self.engine.now
        self.serve(batch, lambda: self._end(received, began))

    def note(self, cause: str, chunk: Chunk, begin: Seconds, end: Seconds) -> None:
        """That its messages waited for something after they were due."""
        if end > begin + 1e-6:
            self.waited[cause] = self.waited.get(cause, 0.0) + (end - begin) * chunk.n

    def _environment(self, now: Seconds) -> Seconds:
        """When there is one: a new one, if all that were ever made are busy."""
        if self.busy <= self.environments:
            return now
        self.environments += 1
        come = self.new_environments
        made = come.take(now, 1) if come and self.environments > self.at_once else now
        return self.started_by.use(made, self.cold, 0.0) if self.started_by else made + self.cold

    def _end(self, received: Seconds, began: Seconds) -> None:
        self.seconds += self.engine.now - began
        self.stayed += self.engine.now - received
        self._count()
        self.busy -= 1
        self.account.release()
        self.pump()
