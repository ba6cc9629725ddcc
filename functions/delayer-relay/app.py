"""The delayer queue: waits for the last fraction of a second, claims, and hands over to the action's queue."""

from delayer.lambdas.events import BatchResponse, SqsEvent, partial_failure, received_messages_of
from delayer.recovery.guard import Guard
from delayer.wiring import use_cases
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("delayer-relay")
relay = build(Guard, ports, handle=use_cases.relay(ports), queue=ports.delayer_queue)


@ports.observer.observed
def handler(event: SqsEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(relay(received_messages_of(event)))
