"""The Lambda handler of an executor: everything but the target is the same for every action."""

from collections.abc import Callable
from typing import Any, Final

from attrs import frozen

from delayer.aws.events.sqs import partial_failure, received_messages_of
from delayer.aws.runtime.deadline import DEADLINE
from delayer.aws.runtime.telemetry import Handler
from delayer.aws.runtime.time_limit import TimeLimit, TookTooLong
from delayer.core.actions.message import LONGEST_ATTEMPT
from delayer.core.firing.executing import Result, Retry
from delayer.core.schedule.messages import ExecutorMessage
from delayer.ports.target import Target
from delayer.wiring.environment import Environment
from delayer.wiring.use_cases import execute, guard

# A function that ends its calls itself, as they all should, does so before the ground does.
GRACE: Final = 1.0  # second
# Seconds that must be left when an attempt begins: the longest attempt that there is, and its outcome, which takes up
# to three calls of AWS, 12 seconds each (ADR 0020).
ATTEMPT: Final = LONGEST_ATTEMPT + GRACE + 36


@frozen
class Limited:
    """Port Target. An attempt that takes too long is a failed attempt, though nobody knows what became of it."""

    target: Target
    seconds: float
    limit: TimeLimit

    def __call__(self, message: ExecutorMessage) -> Result:
        """One attempt."""
        try:
            return self.limit.within(self.seconds + GRACE, lambda: self.target(message))
        except TookTooLong:
            return Retry(detail=f"it took longer than {self.seconds:g} s")


def handler_of(
    ports: Environment,
    target: Target,
    check: Callable[[ExecutorMessage], None] = lambda _: None,
    seconds: float = LONGEST_ATTEMPT,
) -> Handler:
    """Of the function whose bundle this is. `check` as in Execute; `seconds` may an attempt take."""
    limit = TimeLimit()
    limited = Limited(target, seconds, limit)
    use = guard(ports, execute(ports, limited, check, lambda: DEADLINE.left() >= ATTEMPT))

    def handle(event: Any, _: object) -> Any:
        limit.begin()
        return partial_failure(use(received_messages_of(event)))

    return ports.observer.observed(handle)
