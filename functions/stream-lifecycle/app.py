"""The streams of both tables: each transition of a schedule becomes a lifecycle event."""

from typing import Any

from delayer.aws.clients import client
from delayer.aws.lifecycle_stream import happenings_of
from delayer.aws.queue import partial_failure
from delayer.aws.runtime import setting
from delayer.aws.telemetry import Telemetry
from delayer.aws.topic import SnsTopic
from delayer.use_cases.announce import Announce

telemetry = Telemetry("stream-lifecycle")
announce = Announce(
    topic=SnsTopic(sns=client("sns"), arn=setting("LIFECYCLE_TOPIC")),
    observer=telemetry,
    source=setting("EVENT_SOURCE"),
)


@telemetry.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return partial_failure(announce(happenings_of(event)))
