"""The Lambda handler of an executor: everything but the target is the same for every action."""

from collections.abc import Callable
from typing import Final

from delayer.aws.events.sqs import partial_failure, received_messages_of
from delayer.aws.runtime.deadline import DEADLINE
from delayer.aws.runtime.telemetry import Handler
from delayer.core.schedule.messages import ExecutorMessage
from delayer.ports.target import Target
from delayer.wiring.environment import Environment
from delayer.wiring.use_cases import execute, guard

# Seconds that must be left when an attempt begins: the longest attempt that a client may ask for (30), and its outcome,
# which takes up to three calls of AWS (ADR 0020).
ATTEMPT: Final = 66


def handler_of(
    ports: Environment, target: Target, check: Callable[[ExecutorMessage], None] = lambda _: None
) -> Handler:
    """Of the function whose bundle this is. `check` as in Execute."""
    use = guard(ports, execute(ports, target, check, lambda: DEADLINE.left() >= ATTEMPT))
    return ports.observer.observed(lambda event, _: partial_failure(use(received_messages_of(event))))
