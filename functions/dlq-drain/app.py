"""The dead-letter queues: what nobody could handle becomes a dead letter, with its whole body."""

from delayer.aws.events.records import BatchResponse, SqsEvent
from delayer.aws.events.sqs import partial_failure, received_messages_of
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("dlq-drain")
drain = use_cases.drain(ports)


@ports.observer.observed
def handler(event: SqsEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(drain(received_messages_of(event)))
