"""The Lambda handler of a subscriber: everything but the function that reads an event is the same for each."""

from collections.abc import Callable

from delayer.aws.events.sqs import partial_failure, received_messages_of
from delayer.aws.runtime.telemetry import Handler
from delayer.core.history.received import Event
from delayer.wiring.environment import Environment
from delayer.wiring.use_cases import deliver


def handler_of(ports: Environment, read: Callable[[Event], object]) -> Handler:
    """It consumes the queue of one subscriber."""
    use = deliver(ports, read)
    return ports.observer.observed(lambda event, _: partial_failure(use(received_messages_of(event))))
