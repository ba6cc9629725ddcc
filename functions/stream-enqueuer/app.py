"""The stream of the schedules table: what is due soon leaves the table, what has left it enters the delayer queue."""

from delayer.aws.events.records import BatchResponse, StreamEvent
from delayer.aws.events.sqs import partial_failure
from delayer.aws.events.table_stream import changes_of
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("stream-enqueuer")
enqueue = use_cases.enqueue(ports)


@ports.observer.observed
def handler(event: StreamEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(enqueue(changes_of(event), brought_back="broughtBack" in event))
