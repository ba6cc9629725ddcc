"""Which restored schedules fire, which have ended, and which may have fired: those wait for a person."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final

from attrs import define, field, frozen

from delayer.dead_letters.dead_letter import DeadLetters, Undeliverable
from delayer.dead_letters.repository import StoredDeadLetters
from delayer.engines.aws.dynamo_store import DynamoStore
from delayer.engines.aws.expressions import from_attributes
from delayer.engines.aws.objects import S3Objects
from delayer.engines.process import SystemClock, Threads
from delayer.ledger.model import LedgerRow, State
from delayer.ledger.repository import StoredLedger
from delayer.records.repository import from_item
from delayer.schedule.instants import SECOND, Millis, minute_of
from delayer.schedule.messages import DelayerMessage, encode
from delayer.schedule.schedule import Schedule
from operate.restore.tables import Item, merged_sweep

ENDED: Final = "ended or claimed already"
WAITS: Final = "dead-lettered: it may have fired"
NEVER: Final = 2**63  # a minute after all others
LONGEST_LEAD: Final[Millis] = SECOND  # so long before its point in time a schedule may have been claimed
REASON: Final = "restored after the ledger was lost: it was due before that, so it may have fired already"


@frozen(kw_only=True)
class Silent:
    """Port Observer. What is done here is counted in the report."""

    def note(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """Nothing."""

    def warn(self, event: str, schedule_id: str = "", **facts: object) -> None:
        """Nothing."""

    def count(self, metric: Any, number: int = 1) -> None:
        """Nothing: the functions' own metrics are about what they did themselves."""

    def measure_lateness(self, lateness: Millis, metric: Any = "Lateness") -> None:
        """Nothing."""


@define(kw_only=True)
class Schedules:
    """Picks what is put into the schedules table, and sees to the rest."""

    ledger: StoredLedger
    dead_letters: DeadLetters
    dynamodb: Any  # a boto3 client
    control_table: str
    lost_at: Millis | None
    is_dry_run: bool
    counted: Counter[str] = field(factory=Counter)

    def pick(self, items: Sequence[Item]) -> Sequence[Item]:
        """Those that are to fire. Errors: Unavailable."""
        read = [(item, from_item(from_attributes(item))) for item in items]
        rows = self.ledger.read_all([row.id for _, row in read if isinstance(row, Schedule)])
        chosen = [item for item, row in read if not isinstance(row, Schedule) or self._fires(row, rows.get(row.id))]
        self._lower_watermark([row for item, row in read if isinstance(row, Schedule) and item in chosen])
        return chosen

    def _fires(self, schedule: Schedule, row: LedgerRow | None) -> bool:
        if row is not None and row.state is not State.SCHEDULED:
            self.counted[ENDED] += 1
            return False
        if self.lost_at is not None and schedule.point_in_time <= self.lost_at + LONGEST_LEAD:
            self.counted[WAITS] += 1
            self._dead_letter(schedule)
            return False
        return True

    def _dead_letter(self, schedule: Schedule) -> None:
        if not self.is_dry_run:
            body = encode(DelayerMessage(schedule=schedule, nonce="restored"))
            self.dead_letters.take(
                Undeliverable(body=body, reason=REASON, schedule_id=schedule.id, owner=schedule.owner)
            )

    def _lower_watermark(self, schedules: Sequence[Schedule]) -> None:
        """Before they are put: the sweep finds them even if their fast track should fail. The minute task is paused."""
        key = {"name": {"S": "sweep"}}
        mine = self.dynamodb.get_item(TableName=self.control_table, Key=key, ConsistentRead=True).get("Item")
        if not schedules or mine is None or self.is_dry_run:
            return
        swept = [schedule for schedule in schedules if not schedule.is_relaxed]  # nobody sweeps the others
        oldest = min((minute_of(schedule.address.due) for schedule in swept), default=NEVER)
        if oldest < int(mine["closedUntil"]["N"]):
            self.dynamodb.put_item(TableName=self.control_table, Item=merged_sweep(mine, oldest))


def schedules_of(
    client: Callable[[str], Any], outputs: dict[str, str], lost_at: Millis | None, is_dry_run: bool
) -> Schedules:
    """Wired to the stack with these outputs."""
    dynamodb = client("dynamodb")
    ledger = StoredLedger(store=DynamoStore(dynamodb), table=outputs["LedgerTable"], parallel=Threads())
    store = StoredDeadLetters(S3Objects(s3=client("s3"), bucket=outputs["DeadLetterBucket"]))
    dead_letters = DeadLetters(
        clock=SystemClock(), ledger=ledger, dead_letter_store=store, observer=Silent(), source="restore"
    )
    return Schedules(
        ledger=ledger,
        dead_letters=dead_letters,
        dynamodb=dynamodb,
        control_table=outputs["ControlTable"],
        lost_at=lost_at,
        is_dry_run=is_dry_run,
    )
