"""The queue of suspects: each is handled alone, by the function whose queue it came from."""

from delayer.lambdas.events import BatchResponse, SqsEvent, partial_failure, received_messages_of
from delayer.recovery.dispatch import DispatchSuspects
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("suspects-dispatcher")
dispatch = build(DispatchSuspects, ports)


@ports.observer.observed
def handler(event: SqsEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(dispatch(received_messages_of(event)))
