"""Remembers the answers about a target, so that it is not asked at each attempt; and the calls of two services.

There are no stubs here of EventBridge and Step Functions.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, Final, Protocol

from attrs import define, field

FOR: Final = 60.0  # seconds that an answer holds: a target can be deleted, and made anew as something else
MOST: Final = 1_000


@define(kw_only=True)
class KnownTargets:
    """The targets that were found to be what they have to be."""

    clock: Callable[[], float] = time.monotonic
    _until: OrderedDict[str, float] = field(factory=OrderedDict, init=False)
    _lock: Lock = field(factory=Lock, init=False)

    def has(self, target: str) -> bool:
        """Whether it was found a short while ago."""
        with self._lock:
            return self._until.get(target, 0.0) > self.clock()

    def add(self, target: str) -> None:
        """Notes that a target was found now."""
        with self._lock:
            self._until[target] = self.clock() + FOR
            self._until.move_to_end(target)
            while len(self._until) > MOST:
                self._until.popitem(last=False)

    def forget(self) -> None:
        """As in a new execution environment."""
        with self._lock:
            self._until.clear()


KNOWN: Final = KnownTargets()


class PutsEvents(Protocol):
    """EventBridge."""

    def describe_event_bus(self, *, Name: str) -> Any:  # noqa: N803 - AWS's own name
        """Fails if there is no such bus."""
        ...

    def put_events(self, *, Entries: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:  # noqa: N803
        """The answer has one entry for each."""
        ...


class StartsExecutions(Protocol):
    """Step Functions."""

    exceptions: Any

    def describe_state_machine(self, *, stateMachineArn: str, includedData: str) -> Mapping[str, Any]:  # noqa: N803
        """Among others its type."""
        ...

    def start_execution(self, *, stateMachineArn: str, name: str, input: str) -> Any:  # noqa: A002, N803
        """Fails if one of this name exists, unless it runs with the same input."""
        ...
