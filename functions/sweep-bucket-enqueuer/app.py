"""One big bucket: deletes everything in it, page by page."""

from delayer.enqueue.sweep import SweepBuckets
from delayer.lambdas.events import BatchResponse, SqsEvent, partial_failure, received_messages_of
from delayer.recovery.dispatch import CountWaiting
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("sweep-bucket-enqueuer")
sweep = build(SweepBuckets, ports)
watched = build(CountWaiting, ports, handle=sweep)


@ports.observer.observed
def handler(event: SqsEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(watched(received_messages_of(event)))
