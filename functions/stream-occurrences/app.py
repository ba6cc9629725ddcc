"""The ledger's stream, of the occurrences of series alone: their transitions become lifecycle events (ADR 0166)."""

from delayer.aws.events.lifecycle_stream import lifecycle_records_of
from delayer.aws.events.records import BatchResponse, StreamEvent
from delayer.aws.events.sqs import partial_failure
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("stream-occurrences")
announce = use_cases.announce(ports)


@ports.observer.observed
def handler(event: StreamEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(announce(lifecycle_records_of(event)))
