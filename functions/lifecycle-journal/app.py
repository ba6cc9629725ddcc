"""The journal queue: the lifecycle events become the history of each schedule."""

from delayer.aws.events.records import BatchResponse, SqsEvent
from delayer.aws.events.sqs import partial_failure, received_messages_of
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("lifecycle-journal")
write_journal = use_cases.write_journal(ports)
watched = use_cases.count_waiting(ports, write_journal)


@ports.observer.observed
def handler(event: SqsEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(watched(received_messages_of(event)))
