"""The stream of the relaxed table: what DynamoDB's TTL has removed is claimed, and handed over to its executor."""

from delayer.lambdas.events import BatchResponse, StreamEvent, partial_failure
from delayer.lambdas.table_stream import changes_of
from delayer.relay.claim_relaxed import ClaimRelaxed
from delayer.wiring.build import build
from delayer.wiring.environment import Environment

ports = Environment("relaxed-claimer")
claim_relaxed = build(ClaimRelaxed, ports)


@ports.observer.observed
def handler(event: StreamEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(claim_relaxed(changes_of(event), brought_back="broughtBack" in event))
