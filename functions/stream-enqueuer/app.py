"""The stream of the schedules table: what is due soon leaves the table, what has left it enters the delayer queue."""

from delayer.enqueue.enqueue import Enqueue
from delayer.lambdas.events import BatchResponse, StreamEvent, partial_failure
from delayer.lambdas.table_stream import changes_of
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("stream-enqueuer")
enqueue = build(Enqueue, ports)


@ports.observer.observed
def handler(event: StreamEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(enqueue(changes_of(event), brought_back="broughtBack" in event))
