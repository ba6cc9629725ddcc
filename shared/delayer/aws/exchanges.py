"""Names in DynamoDB, and the one transaction that exchanges schedules (ADR 0041)."""

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from delayer.aws import ledger, schedule_table
from delayer.aws.clients import AWS_ERRORS
from delayer.core.ledger import LedgerRow
from delayer.ports import Exchange, NameRow, RecordKey, Unavailable

VERSION = 1


@frozen(kw_only=True)
class DynamoExchanges:
    """Port Exchanges."""

    dynamodb: Any
    schedules_table: str
    ledger_table: str
    names_table: str

    def named(self, owner: str, name: str) -> NameRow | None:
        key = {"owner": {"S": owner}, "name": {"S": name}}
        try:
            answer = self.dynamodb.get_item(TableName=self.names_table, Key=key, ConsistentRead=True)
        except AWS_ERRORS as error:
            raise Unavailable(f"read name: {error}") from error
        return from_item(answer["Item"]) if "Item" in answer else None

    def exchange(self, exchange: Exchange) -> bool:
        writes = self._writes(exchange)
        try:
            # No ClientRequestToken of ours: the conditions make it idempotent already, and for ever; a token is
            # forgotten after ten minutes.
            self.dynamodb.transact_write_items(TransactItems=writes)
        except AWS_ERRORS as error:
            refused = _refused(error, writes)
            if not refused:
                raise Unavailable(f"exchange schedules: {error}") from error
            return any(write["Put"]["Item"] == standing for write, standing in refused)
        return True

    def _writes(self, exchange: Exchange) -> list[dict[str, Any]]:
        writes = [_put(self.schedules_table, schedule_table.to_item(exchange.new))]
        if exchange.gone:
            writes.append({"Delete": {"TableName": self.schedules_table, "Key": _key(exchange.gone)}})
        if exchange.begun:
            writes.append(self._row(exchange.begun, None))
        if exchange.ending:
            writes.append(self._row(exchange.ending, exchange.over))
        if exchange.name:
            writes.append(self._name(exchange.name, exchange.name_over))
        return writes

    def _row(self, row: LedgerRow, over: LedgerRow | None) -> dict[str, Any]:
        condition = _equal("revision", {"N": str(over.revision)}) if over else _absent()
        return _put(self.ledger_table, ledger.to_item(row), condition)

    def _name(self, row: NameRow, over: NameRow | None) -> dict[str, Any]:
        condition = _equal("scheduleId", {"S": over.schedule_id}) if over else _absent()
        return _put(self.names_table, to_item(row), condition)


def _put(table: str, item: Mapping[str, Any], condition: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"Put": {"TableName": table, "Item": item, **(condition or {})}}


def _absent() -> dict[str, Any]:
    return {
        "ConditionExpression": "attribute_not_exists(scheduleId)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


def _equal(attribute: str, value: Mapping[str, str]) -> dict[str, Any]:
    return {
        "ConditionExpression": f"{attribute} = :standing",
        "ExpressionAttributeValues": {":standing": value},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


def _refused(error: Exception, writes: Sequence[dict[str, Any]]) -> list[tuple[dict[str, Any], Any]]:
    """The writes whose condition failed, each with the item that stands; none if it failed for another reason.

    A standing item that is our own says that an earlier try went through and its answer was lost: each item holds the
    id of the new schedule, and all were written together.
    """
    reasons = (getattr(error, "response", None) or {}).get("CancellationReasons", [])
    return [
        (write, reason.get("Item"))
        for write, reason in zip(writes, reasons, strict=False)
        if reason.get("Code") == "ConditionalCheckFailed"
    ]


def _key(key: RecordKey) -> dict[str, Any]:
    return {"bucket": {"S": key.bucket}, "due": {"S": key.due}}


def to_item(row: NameRow) -> dict[str, Any]:
    """A name as DynamoDB stores it."""
    return {
        "owner": {"S": row.owner},
        "name": {"S": row.name},
        "v": {"N": str(VERSION)},
        "scheduleId": {"S": row.schedule_id},
    }


def from_item(item: Mapping[str, Any]) -> NameRow:
    """The inverse of to_item. A row that this code cannot read names nothing: Unavailable."""
    try:
        if item["v"]["N"] != str(VERSION):
            raise ValueError(f"version {item['v']['N']}; this code reads version {VERSION}")
        return NameRow(owner=item["owner"]["S"], name=item["name"]["S"], schedule_id=item["scheduleId"]["S"])
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a name that cannot be read: {error!r}") from error
