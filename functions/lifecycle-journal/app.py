"""The journal queue: the lifecycle events become the history of each schedule."""

from delayer.lambdas.events import BatchResponse, SqsEvent, partial_failure, received_messages_of
from delayer.recovery.dispatch import CountWaiting
from delayer.wiring import use_cases
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("lifecycle-journal")
write_journal = use_cases.write_journal(ports)
watched = build(CountWaiting, ports, handle=write_journal)


@ports.observer.observed
def handler(event: SqsEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(watched(received_messages_of(event)))
