"""Calculates the cost of a run by the cost model of docs/decide/cost.md: on-demand list prices, small records, nothing
batched.
"""

from dataclasses import dataclass
from typing import Final

# Dollars per million.
WRITE: Final = 0.625
READ: Final = 0.125
SQS: Final = 0.40
HTTP: Final = 1.00
INVOCATION: Final = 0.20
GB_SECOND: Final = 13.33
SNS: Final = 0.50
S3_PUT: Final = 5.00

MEMORY: Final = 0.25  # GB of a function
OF_RELAY: Final = 0.25
OF_EXECUTOR: Final = 0.375  # of http-request; the one of the run, sqs-send, has less
# A schedule that fires at its first attempt, in a trickle: the rows of the cost page.
FIRED: Final = (
    HTTP
    + 5 * INVOCATION  # post, enqueuer twice, relay, executor
    + 4 * WRITE  # put, delete, claim, outcome
    + 2 * READ  # the ledger, and the sweep
    + 6 * SQS  # delayer queue and the action's queue: send, receive, delete
    + (MEMORY * (0.02 + 0.04) + OF_RELAY * 0.1 + OF_EXECUTOR * 0.6) * GB_SECOND
)
# Its four events, two of which share a batch, and the journal, which gets two.
EVENTS_AND_JOURNAL: Final = 5 * INVOCATION + 3 * SNS + 6 * SQS + 2 * WRITE
A_CALL: Final = HTTP + INVOCATION + 2 * READ + MEMORY * 0.02 * GB_SECOND  # a GET, or a DELETE without its writes
CANCELLED: Final = 2 * WRITE  # the row, and the delete
A_RETRY: Final = 2.15
A_DEAD_LETTER: Final = S3_PUT + WRITE


@dataclass(kw_only=True)
class Bill:
    """The work that was done."""

    schedules: int = 0
    calls: int = 0  # of the API, beyond the creations
    cancels: int = 0
    retries: int = 0
    dead_letters: int = 0
    sqs_requests: int = 0  # of the caller and of the executor, to the queues of the run
    operator_calls: int = 0
    has_journal: bool = True

    def cents(self) -> float:
        """The amount that AWS will bill for it, without the fixed cost of the stack."""
        millionths = (
            self.schedules * (FIRED + (EVENTS_AND_JOURNAL if self.has_journal else 0))
            + self.calls * A_CALL
            + self.cancels * CANCELLED
            + self.retries * A_RETRY
            + self.dead_letters * A_DEAD_LETTER
            + self.sqs_requests * SQS
            + self.operator_calls * INVOCATION
        )
        return millionths / 1_000_000 * 100
