"""The ledger in DynamoDB: conditional puts, answered with the row that is in the way."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item, StoredItem, check_version, number, text
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED, item_in_the_way, once_free, read_all
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.ledger.lifecycle import State
from delayer.core.ledger.row import Arrival, LedgerChange, LedgerRow
from delayer.core.schedule.instants import SECOND
from delayer.core.schedule.schedule_id import word_of_kind
from delayer.ports.clock import Parallel
from delayer.ports.ledger import Conflict, WriteResult, Written
from delayer.ports.unavailable import RowMissing, Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

VERSION: Final = 1
NO_ROW: Final = LedgerRow(schedule_id="", owner="", state=State.SCHEDULED, revision=0, at=0, expires_at=0)


@frozen(kw_only=True)
class DynamoLedger:
    """Port Ledger."""

    dynamodb: "DynamoDBClient"
    table: str
    parallel: Parallel

    def read(self, schedule_id: str) -> LedgerRow | None:
        try:
            answer = self.dynamodb.get_item(
                TableName=self.table, Key={"scheduleId": {"S": schedule_id}}, ConsistentRead=True
            )
        except AWS_ERRORS as error:
            raise Unavailable(f"read ledger: {error}") from error
        return from_item(answer["Item"]) if "Item" in answer else None

    def read_all(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow]:
        keys: list[Item] = [{"scheduleId": {"S": schedule_id}} for schedule_id in dict.fromkeys(schedule_ids)]
        rows = [from_item(item) for item in read_all(self.dynamodb, self.table, keys)]
        return {row.schedule_id: row for row in rows}

    def write(self, changes: Sequence[LedgerChange]) -> list[WriteResult]:
        return self.parallel.map(self._answered, changes)

    def _answered(self, change: LedgerChange) -> WriteResult:
        try:
            return self._write(change)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with one change, its neighbours have their answers
            return Unavailable(f"write ledger: {error!r}")

    def _write(self, change: LedgerChange) -> WriteResult:
        try:
            once_free(
                lambda: self.dynamodb.put_item(
                    TableName=self.table,
                    Item=to_item(change.row),
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **condition_of(change),
                )
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                return Unavailable(f"write ledger: {error}")
            return answer_of(change.row, item_in_the_way(error))
        return Written()


def answer_of(row: LedgerRow, item: StoredItem | None) -> WriteResult:
    """What it means that an item is in the way of a row.

    It is our own row if an earlier try of this very write went through and its answer was lost: then it is written.
    Attributes that this code does not know are left standing by an UPDATE, and tell nothing.
    """
    if not item:
        return RowMissing(f"the ledger row of {row.schedule_id} has expired")
    try:
        known = {name: value for name, value in item.items() if name in ATTRIBUTES}
        return Written() if known == to_item(row) else Conflict(from_item(item))
    except Unavailable as error:
        return error


def condition_of(change: LedgerChange) -> Mapping[str, Any]:
    """The arguments of a put that may write this change only."""
    if change.over is None:
        return {"ConditionExpression": "attribute_not_exists(scheduleId)"}
    return {
        "ConditionExpression": "revision = :revision",
        "ExpressionAttributeValues": {":revision": {"N": str(change.over.revision)}},
    }


def to_item(row: LedgerRow) -> Item:
    """A row as DynamoDB stores it; what is empty is left out, to stay within one write unit."""
    return {name: value for name, value in _attributes(row).items() if value not in ({"S": ""}, {"N": "0"})}


def _attributes(row: LedgerRow) -> Item:
    """All that a row may have, also what is empty."""
    return {
        "scheduleId": {"S": row.schedule_id},
        "v": {"N": str(VERSION)},
        "kind": {"S": word_of_kind(row.schedule_id)},  # nothing reads it but the filters of the stream (ADR 0166)
        "owner": {"S": row.owner},
        "state": {"S": str(row.state)},
        "revision": {"N": str(row.revision)},
        "at": {"N": str(row.at)},
        "expiresAt": {"N": str(row.expires_at // SECOND)},
        "nonce": {"S": row.nonce},
        "leaseUntil": {"N": str(row.lease_until)},
        "claimedAt": {"N": str(row.claimed_at)},
        "enqueuedAt": {"N": str(row.enqueued_at)},
        "attempt": {"N": str(row.attempt)},
        "probes": {"N": str(row.probes)},
        "fence": {"S": row.fence},
        "retryOf": {"S": row.retry_of},
        "retryAt": {"N": str(row.retry_at)},
        "ageFrom": {"N": str(row.age_from)},
        "arrival": {"S": str(row.arrival)},
        "detail": {"S": row.detail},
        "name": {"S": row.name},
        "replacedBy": {"S": row.replaced_by},
        "decidedAs": {"S": row.decided_as},
        "stoppedAt": {"N": str(row.stopped_at)},
        "lateness": {"N": str(row.lateness)},
        "attemptedAt": {"N": str(row.attempted_at)},
        "by": {"S": row.by},
        "answer": {"S": row.answer},
    }


def from_item(item: StoredItem) -> LedgerRow:
    """The inverse of to_item. A row that this code cannot read decides nothing: Unavailable."""
    try:
        check_version(item, VERSION)
        return LedgerRow(
            schedule_id=item["scheduleId"]["S"],
            owner=text(item, "owner"),
            state=State(item["state"]["S"]),
            revision=number(item, "revision"),
            at=number(item, "at"),
            expires_at=number(item, "expiresAt") * SECOND,
            nonce=text(item, "nonce"),
            lease_until=number(item, "leaseUntil"),
            claimed_at=number(item, "claimedAt"),
            enqueued_at=number(item, "enqueuedAt"),
            attempt=number(item, "attempt"),
            probes=number(item, "probes"),
            fence=text(item, "fence"),
            retry_of=text(item, "retryOf"),
            retry_at=number(item, "retryAt"),
            age_from=number(item, "ageFrom"),
            arrival=Arrival(text(item, "arrival")),
            detail=text(item, "detail"),
            name=text(item, "name"),
            replaced_by=text(item, "replacedBy"),
            decided_as=text(item, "decidedAs"),
            stopped_at=number(item, "stoppedAt"),
            lateness=number(item, "lateness"),
            attempted_at=number(item, "attemptedAt"),
            by=text(item, "by"),
            answer=text(item, "answer"),
        )
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise Unavailable(f"a ledger row that cannot be read: {error!r}") from error


ATTRIBUTES: Final = tuple(_attributes(NO_ROW))  # names
