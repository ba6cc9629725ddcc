"""The series queue: what happens to an occurrence puts the next one."""

from delayer.aws.events.records import BatchResponse, SqsEvent
from delayer.aws.events.sqs import partial_failure, received_messages_of
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("series-stepper")
react = use_cases.guard(ports, use_cases.react_to_events(ports))


@ports.observer.observed
def handler(event: SqsEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(react(received_messages_of(event)))
