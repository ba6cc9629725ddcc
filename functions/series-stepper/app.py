"""The series queue: what happens to an occurrence puts the next one."""

from delayer.lambdas.events import BatchResponse, SqsEvent, partial_failure, received_messages_of
from delayer.recovery.guard import Guard
from delayer.series.use_cases.step import ReactToEvents
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("series-stepper")
react = build(Guard, ports, handle=build(ReactToEvents, ports))


@ports.observer.observed
def handler(event: SqsEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(react(received_messages_of(event)))
