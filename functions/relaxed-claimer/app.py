"""The stream of the relaxed table: what DynamoDB's TTL has removed is claimed, and handed over to its executor."""

from delayer.aws.events.records import BatchResponse, StreamEvent
from delayer.aws.events.sqs import partial_failure
from delayer.aws.events.table_stream import changes_of
from delayer.wiring import use_cases
from delayer.wiring.environment import Environment

ports = Environment("relaxed-claimer")
claim_relaxed = use_cases.claim_relaxed(ports)


@ports.observer.observed
def handler(event: StreamEvent, _context: object) -> BatchResponse:
    """One invocation."""
    return partial_failure(claim_relaxed(changes_of(event), brought_back="broughtBack" in event))
