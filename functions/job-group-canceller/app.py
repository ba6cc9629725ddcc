"""Cancels groups in the background, some members at a time."""

from delayer.jobs.use_cases import CancelGroup
from delayer.lambdas.events import BatchResponse, SqsEvent, partial_failure, received_messages_of
from delayer.recovery.dispatch import CountWaiting
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("job-group-canceller")
cancel_group = build(CancelGroup, ports)
watched = build(CountWaiting, ports, handle=cancel_group)


@ports.observer.observed
def handler(event: SqsEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(watched(received_messages_of(event)))
