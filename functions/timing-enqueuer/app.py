"""The stream of what waits for its time: each schedule is sent to the queue of its policy, or put back."""

from delayer.aws.events.records import BatchResponse, StreamEvent
from delayer.aws.events.sqs import partial_failure
from delayer.aws.events.table_stream import changes_of
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("timing-enqueuer")
enqueue = use_cases.enqueue_timing(ports)


@ports.observer.observed
def handler(event: StreamEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(enqueue(changes_of(event)))
