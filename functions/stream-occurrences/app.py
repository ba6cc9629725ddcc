"""The ledger's stream, of the occurrences of series alone: their transitions become lifecycle events (ADR 0166)."""

from delayer.history.announce import Announce
from delayer.lambdas.events import BatchResponse, StreamEvent, partial_failure
from delayer.lambdas.table_stream import lifecycle_records_of
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("stream-occurrences")
announce = build(Announce, ports)


@ports.observer.observed
def handler(event: StreamEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(announce(lifecycle_records_of(event)))
