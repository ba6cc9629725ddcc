"""The queue of suspects: each is handled alone, by the function whose queue it came from."""

from delayer.aws.events.records import BatchResponse, SqsEvent
from delayer.aws.events.sqs import partial_failure, received_messages_of
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("suspects-dispatcher")
dispatch = use_cases.dispatch_suspects(ports)


@ports.observer.observed
def handler(event: SqsEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(dispatch(received_messages_of(event)))
