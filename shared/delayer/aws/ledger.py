"""The ledger in DynamoDB: conditional puts, answered with the row that stands in the way."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from delayer.aws import batches
from delayer.aws.clients import AWS_ERRORS, error_code
from delayer.aws.conflicts import once_free
from delayer.core.instants import SECOND
from delayer.core.ledger import LedgerRow
from delayer.core.lifecycle import State
from delayer.ports import Unavailable, Vanished

VERSION = 1


@frozen(kw_only=True)
class DynamoLedger:
    """Port Ledger."""

    dynamodb: Any
    table: str

    def read(self, schedule_id: str) -> LedgerRow | None:
        try:
            answer = self.dynamodb.get_item(
                TableName=self.table, Key={"scheduleId": {"S": schedule_id}}, ConsistentRead=True
            )
        except AWS_ERRORS as error:
            raise Unavailable(f"read ledger: {error}") from error
        return from_item(answer["Item"]) if "Item" in answer else None

    def read_all(self, schedule_ids: Sequence[str]) -> dict[str, LedgerRow]:
        keys = [{"scheduleId": {"S": schedule_id}} for schedule_id in dict.fromkeys(schedule_ids)]
        rows = [from_item(item) for item in batches.read_all(self.dynamodb, self.table, keys)]
        return {row.schedule_id: row for row in rows}

    def put_if_absent(self, row: LedgerRow) -> LedgerRow | None:
        return self._put(row, {"ConditionExpression": "attribute_not_exists(scheduleId)"})

    def swap(self, old: LedgerRow, new: LedgerRow) -> LedgerRow | None:
        return self._put(
            new,
            {
                "ConditionExpression": "revision = :revision",
                "ExpressionAttributeValues": {":revision": {"N": str(old.revision)}},
            },
        )

    def _put(self, row: LedgerRow, condition: Mapping[str, Any]) -> LedgerRow | None:
        try:
            once_free(
                lambda: self.dynamodb.put_item(
                    TableName=self.table,
                    Item=to_item(row),
                    ReturnValuesOnConditionCheckFailure="ALL_OLD",
                    **condition,
                )
            )
        except AWS_ERRORS as error:
            if error_code(error) != "ConditionalCheckFailedException":
                raise Unavailable(f"write ledger: {error}") from error
            return self._standing(row, getattr(error, "response", {}))
        return None

    def _standing(self, row: LedgerRow, response: Mapping[str, Any]) -> LedgerRow | None:
        """The row in the way; our own, if an earlier try of this very write went through and its answer was lost."""
        item = response.get("Item")
        if not item:
            raise Vanished(f"the ledger row of {row.schedule_id} is gone")
        return None if item == to_item(row) else from_item(item)


def to_item(row: LedgerRow) -> dict[str, Any]:
    """A row as DynamoDB stores it; what is empty is left out, to stay within one write unit."""
    item = {
        "scheduleId": {"S": row.schedule_id},
        "v": {"N": str(VERSION)},
        "owner": {"S": row.owner},
        "state": {"S": str(row.state)},
        "revision": {"N": str(row.revision)},
        "at": {"N": str(row.at)},
        "expiresAt": {"N": str(row.expires_at // SECOND)},
        "nonce": {"S": row.nonce},
        "leaseUntil": {"N": str(row.lease_until)},
        "claimedAt": {"N": str(row.claimed_at)},
        "attempt": {"N": str(row.attempt)},
        "delivery": {"S": row.delivery},
        "retryOf": {"S": row.retry_of},
        "detail": {"S": row.detail[:DETAIL]},
        "name": {"S": row.name},
        "replacedBy": {"S": row.replaced_by},
        "stoppedAt": {"N": str(row.stopped_at)},
        "lateness": {"N": str(row.lateness)},
    }
    return {name: value for name, value in item.items() if value not in ({"S": ""}, {"N": "0"})}


DETAIL = 256  # characters of a reason or an answer that are kept


def from_item(item: Mapping[str, Any]) -> LedgerRow:
    """The inverse of to_item. A row that this code cannot read decides nothing: Unavailable."""
    try:
        return _row(item)
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a ledger row that cannot be read: {error!r}") from error


def _row(item: Mapping[str, Any]) -> LedgerRow:
    if _number(item, "v") != VERSION:
        raise ValueError(f"version {_number(item, 'v')}; this code reads version {VERSION}")
    return LedgerRow(
        schedule_id=item["scheduleId"]["S"],
        owner=_text(item, "owner"),
        state=State(item["state"]["S"]),
        revision=_number(item, "revision"),
        at=_number(item, "at"),
        expires_at=_number(item, "expiresAt") * SECOND,
        nonce=_text(item, "nonce"),
        lease_until=_number(item, "leaseUntil"),
        claimed_at=_number(item, "claimedAt"),
        attempt=_number(item, "attempt"),
        delivery=_text(item, "delivery"),
        retry_of=_text(item, "retryOf"),
        detail=_text(item, "detail"),
        name=_text(item, "name"),
        replaced_by=_text(item, "replacedBy"),
        stopped_at=_number(item, "stoppedAt"),
        lateness=_number(item, "lateness"),
    )


def _text(item: Mapping[str, Any], name: str) -> str:
    return str(item.get(name, {}).get("S", ""))


def _number(item: Mapping[str, Any], name: str) -> int:
    return int(item.get(name, {}).get("N", 0))
