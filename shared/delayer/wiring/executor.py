"""The Lambda handler of an executor: everything but the target is the same for every action."""

from collections.abc import Callable
from typing import Any, Final

from delayer.aws.events.sqs import partial_failure, received_messages_of
from delayer.aws.runtime.deadline import DEADLINE
from delayer.aws.runtime.telemetry import Handler
from delayer.aws.runtime.time_limit import TimeLimit
from delayer.core.actions.action_type import ActionType
from delayer.core.actions.message import LONGEST_ATTEMPT
from delayer.core.schedule.messages import ExecutorMessage
from delayer.ports.target import Target
from delayer.wiring.environment import Environment
from delayer.wiring.limited import GRACE, Limited
from delayer.wiring.use_cases import execute, guard

# Seconds that must be left when an attempt begins: the longest attempt that there is, and its outcome, which takes up
# to three calls of AWS, 12 seconds each (ADR 0020).
ATTEMPT: Final = LONGEST_ATTEMPT + GRACE + 36


def handler_of(
    ports: Environment,
    target: Target,
    check: Callable[[ExecutorMessage], None] = lambda _: None,
    seconds: float = LONGEST_ATTEMPT,
    action_of: Callable[[str], ActionType | None] = lambda _: None,
) -> Handler:
    """Of the function whose bundle this is. `check` as in Execute; `seconds` may an attempt take.

    `action_of` gives what is known of a type of action: what an owner policy looks at.
    """
    limit = TimeLimit()
    limited = Limited(target=target, seconds=seconds, limit=limit)
    use = guard(ports, execute(ports, limited, check, lambda: DEADLINE.left() >= ATTEMPT, action_of))

    def handle(event: Any, _: object) -> Any:
        limit.begin()
        return partial_failure(use(received_messages_of(event)))

    return ports.observer.observed(handle)
