"""The process offers these: time, threads, randomness, settings."""

import os
import secrets
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from threading import local

from attrs import field, frozen

from delayer.engines.ports import Item, Outcome
from delayer.schedule.instants import Millis

SPIN = 2_000_000  # ns; time.sleep may overshoot, so the last stretch is slept in small steps


class SystemClock:
    """Tells the time of the machine."""

    def now(self) -> Millis:
        return time.time_ns() // 1_000_000

    def sleep_until(self, instant: Millis) -> None:
        while (left := instant * 1_000_000 - time.time_ns()) > 0:
            time.sleep(max(left - SPIN, SPIN // 4) / 1e9)


@frozen
class Threads:
    """Works with threads. They live as long as the execution environment.

    What is mapped from within one of them runs there: a thread that waited for others of its pool might wait for ever.
    """

    width: int = 10
    _here: local = field(factory=local, init=False)
    _pool: ThreadPoolExecutor = field(init=False)

    @_pool.default
    def _start(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.width, initializer=self._mark)

    def _mark(self) -> None:
        self._here.is_pooled = True

    def map(self, do: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
        things = list(items)
        if len(things) == 1 or getattr(self._here, "is_pooled", False):
            return [do(thing) for thing in things]
        return list(self._pool.map(do, things))


class InOrder:
    """Does one after the other."""

    def map(self, do: Callable[[Item], Outcome], items: Iterable[Item]) -> list[Outcome]:
        return [do(item) for item in items]


def random_token() -> str:
    """96 random bits, for nonces and fencing tokens."""
    return secrets.token_urlsafe(12)


def setting(name: str) -> str:
    """An environment variable that the template sets. Raises SystemExit with a sentence if it is missing."""
    try:
        return os.environ[name]
    except KeyError:
        missing = f"the environment variable {name} is missing: template.yaml sets it"
        raise SystemExit(f"{missing}; in a test, set it with monkeypatch.setenv") from None


def optional(name: str) -> str:
    """An environment variable that the template sets for some stacks, or an empty text."""
    return os.environ.get(name, "")


def number(name: str) -> int:
    """A whole number among the settings."""
    return int(setting(name))
