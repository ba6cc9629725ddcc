"""A reader of lifecycle events is one small function: this is what its author imports (docs/extend/subscribers.md).

@subscriber("big-spenders")
def handler(event: Event) -> None:
    if event.type == "scheduled" and event.payload.count("order") > 100:
        ...

The function is called with one event, and again two minutes later if it raises. It is called at least once for each
event, and the events of one schedule may come in any order: `event.id` tells an event that came before, and the higher
`event.sequence` is the later one.
"""

import os
from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from delayer.engines.process import setting
from delayer.history.received import Event, NotDone
from delayer.ledger.model import EventType, State

if TYPE_CHECKING:
    from delayer.engines.aws.telemetry import Handler
    from delayer.wiring.environment import Environment

__all__ = ["Event", "EventType", "NotDone", "State", "Subscriber", "setting", "subscriber"]

IN_LAMBDA: Final = "AWS_LAMBDA_FUNCTION_NAME"  # Lambda's own


def subscriber(
    name: str, *, events: Collection[EventType | str] = ()
) -> "Callable[[Callable[[Event], object]], Subscriber]":
    """Makes a function a reader of lifecycle events. Its folder is `functions/subscriber-<name>`.

    `events` are the types that it is called with, such as `"failed"`; without them, all. In a stack, its line in
    `template.yaml` saves the calls of the others. Raises ValueError for what is no type.
    """
    types = frozenset(map(EventType, events))
    return lambda read: Subscriber(name, _only(types, read) if types else read, types)


def _only(types: Collection[EventType], read: Callable[[Event], object]) -> Callable[[Event], object]:
    return lambda event: read(event) if event.type in types else None


class Subscriber:
    """Lambda calls this, with a batch of the subscriber's queue."""

    def __init__(self, name: str, read: Callable[[Event], object], events: Collection[EventType] = ()) -> None:
        self.name = name
        self.read = read
        self.events = events  # empty: all
        if IN_LAMBDA in os.environ:
            _ = self._of_queue  # at the cold start, which has more of a processor than a call

    @cached_property
    def ports(self) -> "Environment":
        """The function has these at hand: logs, metrics, the clock."""
        from delayer.wiring.environment import Environment

        return Environment(f"subscriber-{self.name}")

    @cached_property
    def _of_queue(self) -> "Handler":
        from delayer.wiring.consumers import subscriber_handler

        return subscriber_handler(self.ports, self.read)

    def __call__(self, event: Any, context: object) -> Any:
        """One invocation."""
        return self._of_queue(event, context)
