"""The lifecycle events become the history of each schedule."""

from typing import Any

from delayer.aws.clients import client
from delayer.aws.headcount import DynamoHeadcount
from delayer.aws.journal import DynamoJournal
from delayer.aws.queue import deliveries_of, partial_failure
from delayer.aws.runtime import number, setting
from delayer.aws.telemetry import Telemetry
from delayer.core.instants import DAY
from delayer.use_cases.write_journal import WriteJournal

telemetry = Telemetry("lifecycle-journal")
dynamodb, table = client("dynamodb"), setting("JOURNAL_TABLE")
write_journal = WriteJournal(
    journal=DynamoJournal(dynamodb=dynamodb, table=table),
    headcount=DynamoHeadcount(dynamodb=dynamodb, table=table) if number("MAX_LIVE_SCHEDULES") else None,
    observer=telemetry,
    keep_for=number("JOURNAL_DAYS") * DAY,
)


@telemetry.observed
def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """One invocation."""
    return partial_failure(write_journal(deliveries_of(event)))
