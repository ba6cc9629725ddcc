"""The process offers these: time, threads, randomness, settings."""

import base64
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import local
from typing import Final

from attrs import field, frozen

from delayer.engines.ports import Item, Outcome
from delayer.schedule.instants import Millis

TOKEN: Final = 12  # bytes
IN_STOCK: Final = 64  # tokens
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
    return secrets.token_urlsafe(TOKEN)


class RandomTokens:
    """The same, for a process that needs many: it asks the system for those of many at once (ADR 0192)."""

    def __init__(self) -> None:
        os.register_at_fork(after_in_child=self._forget)
        self._forget()

    def _forget(self) -> None:
        """A child has none of those that its parent will use."""
        self._bits: Iterator[bytes] = iter(())

    def __call__(self) -> str:
        while not (bits := next(self._bits, b"")):
            many = os.urandom(TOKEN * IN_STOCK)
            self._bits = iter([many[start : start + TOKEN] for start in range(0, len(many), TOKEN)])
        return base64.urlsafe_b64encode(bits).decode()


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
