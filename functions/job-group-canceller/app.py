"""Cancels groups in the background, some members at a time."""

from delayer.aws.events.records import BatchResponse, SqsEvent
from delayer.aws.events.sqs import partial_failure, received_messages_of
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("job-group-canceller")
cancel_group = use_cases.cancel_group(ports)
watched = use_cases.count_waiting(ports, cancel_group)


@ports.observer.observed
def handler(event: SqsEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(watched(received_messages_of(event)))
