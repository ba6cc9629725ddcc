"""The Lambda handler of an executor: everything but the target is the same for every action."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from attrs import define

from delayer.actions.ports import Target
from delayer.actions.rules.model import LONGEST_ATTEMPT, ActionType
from delayer.engines.aws.bounded_calls import DEADLINE
from delayer.engines.aws.telemetry import Handler
from delayer.engines.ports import ReceivedMessage
from delayer.execute.execute import GRACE
from delayer.lambdas.events import partial_failure, received_messages_of
from delayer.recovery.guard import Guard
from delayer.schedule.messages import ExecutorMessage
from delayer.wiring.build import build
from delayer.wiring.environment import Environment
from delayer.wiring.use_cases import execute, refill

# Seconds that must be left when an attempt begins: the longest attempt that there is, and its outcome, which takes up
# to three calls of AWS, 12 seconds each (ADR 0020); those of a batch of outcomes a third of a second more (ADR 0116).
ATTEMPT: Final = LONGEST_ATTEMPT + GRACE + 37

# Seconds before there is no time left for another attempt: what is received may have to wait until it is due, for a
# slot, and for the ledger. If all stopped earlier, or at once, each would wait for its last attempts, and nobody would
# receive.
STOPS: Final = (2.0, 14.0)


@define
class Spread:
    """How much earlier than it must a run stops receiving: by chance, so that not all of them stop at once.

    A run that receives no more ends when its last attempt does. Until then a target that hangs keeps it idle.
    """

    seconds: float = 0

    def begin(self) -> None:
        """An invocation begins."""
        self.seconds = random.uniform(*STOPS)


def handler_of(
    ports: Environment,
    target: Target,
    check: Callable[[ExecutorMessage], None] = lambda _: None,
    seconds: float = LONGEST_ATTEMPT,
    actions: Mapping[str, ActionType] | None = None,
) -> Handler:
    """Of the function whose bundle this is. `check` as in Execute; `seconds` may an attempt take.

    `actions` are the types that it does, whose targets owner policies and circuits look at; without them, all that
    are registered.
    """
    receives_until = Spread()
    attempts = execute(ports, target, check, lambda: DEADLINE.left() >= ATTEMPT, actions, seconds)

    def handle_all(batch: Sequence[ReceivedMessage]) -> list[str]:
        return attempts(batch, beside)

    guard = build(Guard, ports, handle=handle_all, queue=ports.own_queue)
    beside = refill(ports, guard, lambda: DEADLINE.left() >= ATTEMPT + receives_until.seconds)

    def handle(event: Any, _: object) -> Any:
        receives_until.begin()
        return partial_failure(guard(received_messages_of(event)))

    return ports.observer.observed(handle)
