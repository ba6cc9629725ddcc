"""One big bucket: deletes everything in it, page by page."""

from delayer.aws.events.records import BatchResponse, SqsEvent
from delayer.aws.events.sqs import partial_failure, received_messages_of
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("sweep-bucket-enqueuer")
sweep = use_cases.sweep_buckets(ports)
watched = use_cases.count_waiting(ports, sweep)


@ports.observer.observed
def handler(event: SqsEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(watched(received_messages_of(event)))
