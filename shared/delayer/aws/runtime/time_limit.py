"""How long an attempt may take, whatever it waits for: its neighbours in the batch have a deadline (ADR 0020).

Python cannot end a thread. One that hangs is left behind; when there are many, the next invocation begins in a new
execution environment.
"""

import os
from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Lock, Thread
from typing import Final, TypeVar

from attrs import define, field

from delayer.aws.runtime.environment import run_into

Outcome = TypeVar("Outcome")

NAME: Final = "attempt"  # of its threads
MOST_LEFT_BEHIND: Final = 100  # Lambda allows 1,024 threads


class TookTooLong(Exception):
    """It has not ended in time. Nobody knows whether it still does something."""


@define
class TimeLimit:
    """Of each attempt in this execution environment."""

    leave: Callable[[int], object] = os._exit  # the messages of the batch come again; nothing has begun with them
    _left_behind: list[Thread] = field(factory=list, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def within(self, seconds: float, do: Callable[[], Outcome]) -> Outcome:
        """What it returns, or raises. Raises TookTooLong."""
        outcome: Future[Outcome] = Future()
        thread = Thread(target=run_into, args=(do, outcome), name=NAME, daemon=True)
        thread.start()
        if wait([outcome], seconds).not_done:
            with self._lock:
                self._left_behind.append(thread)
            raise TookTooLong
        return outcome.result()

    def begin(self) -> None:
        """An invocation begins. If too many threads of earlier ones still hang, this process ends instead."""
        with self._lock:
            self._left_behind = [thread for thread in self._left_behind if thread.is_alive()]
            if len(self._left_behind) >= MOST_LEFT_BEHIND:
                self.leave(1)
