"""Under a clock that is moved by hand nobody waits: a test that sleeps all the same fails (ADR 0138).

A test is under such a clock if it has made one. What counts is what its own thread waits for in vain: a sleep, and a
wait that nobody ends. To wait for a thread that works is no waste, and ends as soon as that one says so. Counted are
the seconds that it asked for: how long they take is the machine's business.
"""

import sys
import time
from collections.abc import Generator
from threading import Condition, get_ident
from typing import Any, Self

import pytest
from attrs import define, field

MOST = 0.05  # seconds in one test

_sleep = time.sleep
_wait = Condition.wait
_watches: list["Watch"] = []  # the innermost counts


@define(eq=False)
class Watch:
    """What one thread waits for in vain."""

    thread: int = field(factory=get_ident)
    has_manual_clock: bool = False
    waited: float = 0.0  # seconds

    def __enter__(self) -> Self:
        _watches.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _watches.remove(self)

    def check(self) -> None:
        """Raises if the time was wasted."""
        assert not self.has_manual_clock or self.waited < MOST, (
            f"it waited {self.waited:.2f} s under a clock that is moved by hand: move it, or wait for a signal"
        )


def _note(seconds: float) -> None:
    if _watches and _watches[-1].thread == get_ident():
        _watches[-1].waited += seconds


def _counted_sleep(seconds: float) -> None:
    _note(seconds)
    _sleep(seconds)


def _counted_wait(self: Condition, timeout: float | None = None) -> bool:
    in_time = _wait(self, timeout)
    if not in_time:
        _note(timeout or 0)
    return in_time


def _watch_the_clocks() -> None:
    """As soon as somebody has imported the manual clock: not every test needs what that imports."""
    clock: Any = sys.modules.get("delayer.engines.memory")
    if clock is None or "__new__" in vars(clock.ManualClock):
        return

    def new(cls: type, *_: object, **__: object) -> Any:
        for watch in _watches:
            watch.has_manual_clock = True
        return object.__new__(cls)

    clock.ManualClock.__new__ = new


time.sleep = _counted_sleep  # type: ignore[assignment] # before any module keeps it as a default
Condition.wait = _counted_wait  # type: ignore[method-assign]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Watches also what the fixtures of a test do."""
    _watch_the_clocks()
    with Watch() as watch:
        item.stash[OF_TEST] = watch
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """The test fails, if it has not failed already."""
    result = yield
    item.stash[OF_TEST].check()
    return result


OF_TEST = pytest.StashKey[Watch]()
