"""The delayer queue: waits for the last fraction of a second, claims, and hands over to the action's queue."""

from delayer.aws.events.records import BatchResponse, SqsEvent
from delayer.aws.events.sqs import partial_failure, received_messages_of
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("delayer-relay")
relay = use_cases.guard(ports, use_cases.relay(ports), ports.delayer_queue)


@ports.observer.observed
def handler(event: SqsEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(relay(received_messages_of(event)))
