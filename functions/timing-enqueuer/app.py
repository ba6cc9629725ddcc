"""The stream of what waits for its time: each schedule is sent to the queue of its policy, or put back."""

from delayer.lambdas.events import BatchResponse, StreamEvent, partial_failure
from delayer.lambdas.table_stream import changes_of
from delayer.timing.ask import EnqueueTiming
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("timing-enqueuer")
enqueue = build(EnqueueTiming, ports)


@ports.observer.observed
def handler(event: StreamEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(enqueue(changes_of(event)))
