"""The Lambda handler of a policy: everything but the function that chooses a time is the same for each."""

from collections.abc import Callable

from delayer.aws.events.sqs import partial_failure, received_messages_of
from delayer.aws.runtime.telemetry import Handler
from delayer.core.schedule.schedule import Schedule
from delayer.core.timing.deciding import Chosen
from delayer.wiring.environment import Environment
from delayer.wiring.use_cases import decide


def handler_of(ports: Environment, choose: Callable[[Schedule], Chosen]) -> Handler:
    """It consumes the queue of one policy."""
    use = decide(ports, choose)
    return ports.observer.observed(lambda event, _: partial_failure(use(received_messages_of(event))))
