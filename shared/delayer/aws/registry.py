"""The registry in DynamoDB: names, groups and idempotency keys, and the transaction that keeps them true (ADR 0048).

One table, `list` and `entry`. A list is `name#<owner>#<name>`, `group#<owner>#<group>` or `request#<owner>#<digest of
the key>`; jobs and rates have theirs, too. No name and no group holds a `#`, so no two owners share a list.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from delayer.aws import ledger, member_lists, schedule_table
from delayer.aws.clients import AWS_ERRORS
from delayer.aws.conflicts import once_free
from delayer.core.instants import DAY, SECOND, Millis
from delayer.core.ledger import ROW_LIFETIME, LedgerRow
from delayer.core.schedule import Schedule
from delayer.core.schedule_id import address_of
from delayer.ports import Exchange, Members, NameRow, RecordKey, RequestRow, Unavailable

VERSION: Final = 1
ONLY: Final = "-"  # the entry of a list that has one
NAME_LIFETIME: Final[Millis] = 400 * DAY  # after due: longer than any row of its bearer, which an operator may put back


@frozen(kw_only=True)
class DynamoRegistry:
    """Port Registry."""

    dynamodb: Any
    schedules_table: str
    ledger_table: str
    registry_table: str

    def named(self, owner: str, name: str) -> NameRow | None:
        item = self._read(name_list(owner, name))
        return name_from(owner, name, item) if item else None

    def requested(self, owner: str, key: str) -> RequestRow | None:
        item = self._read(request_list(owner, key))
        return request_from(owner, key, item) if item else None

    def members(self, owner: str, group: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        query = member_lists.page_query(group_list(owner, group), since, until, after, at_most)
        try:
            answer = self.dynamodb.query(TableName=self.registry_table, ConsistentRead=True, **query)
        except AWS_ERRORS as error:
            raise Unavailable(f"query group: {error}") from error
        return member_lists.members_in(answer)

    def exchange(self, exchange: Exchange) -> bool:
        writes = self._writes(exchange)
        try:
            # No ClientRequestToken of ours: the conditions make it idempotent already, and for ever; a token is
            # forgotten after ten minutes.
            once_free(lambda: self.dynamodb.transact_write_items(TransactItems=writes))
        except AWS_ERRORS as error:
            refused = _refused(error, writes)
            if not refused:
                raise Unavailable(f"exchange schedules: {error}") from error
            return any(write["Put"]["Item"] == standing for write, standing in refused)
        return True

    def _read(self, entries: str) -> dict[str, Any] | None:
        try:
            answer = self.dynamodb.get_item(
                TableName=self.registry_table, Key=_entry(entries, ONLY), ConsistentRead=True
            )
        except AWS_ERRORS as error:
            raise Unavailable(f"read registry: {error}") from error
        item: dict[str, Any] | None = answer.get("Item")
        return item

    def _writes(self, exchange: Exchange) -> list[dict[str, Any]]:
        writes = [_put(self.schedules_table, schedule_table.to_item(exchange.new))]
        if exchange.gone:
            writes.append({"Delete": {"TableName": self.schedules_table, "Key": _key(exchange.gone)}})
        if exchange.begun:
            writes.append(self._row(exchange.begun, None))
        if exchange.ending:
            writes.append(self._row(exchange.ending, exchange.over))
        if exchange.name:
            over = exchange.name_over
            writes.append(self._entry(name_item(exchange.name), over.schedule_id if over else None))
        if exchange.request:
            earlier = exchange.request_over
            writes.append(self._entry(request_item(exchange.request), earlier.schedule_id if earlier else None))
        if exchange.new.group:
            writes.append(_put(self.registry_table, member_item(exchange.new)))
        return writes

    def _row(self, row: LedgerRow, over: LedgerRow | None) -> dict[str, Any]:
        condition = _equal("revision", {"N": str(over.revision)}) if over else _absent()
        return _put(self.ledger_table, ledger.to_item(row), condition)

    def _entry(self, item: Mapping[str, Any], over: str | None) -> dict[str, Any]:
        condition = _equal("scheduleId", {"S": over}) if over else _absent()
        return _put(self.registry_table, item, condition)


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


def _entry(entries: str, entry: str) -> dict[str, Any]:
    return {"list": {"S": entries}, "entry": {"S": entry}}


def name_list(owner: str, name: str) -> str:
    """The list of one name."""
    return f"name#{owner}#{name}"


def request_list(owner: str, key: str) -> str:
    """The list of one idempotency key, which may hold any character."""
    return f"request#{owner}#{hashlib.sha256(key.encode()).hexdigest()}"


def group_list(owner: str, group: str) -> str:
    """The list of a group."""
    return f"group#{owner}#{group}"


def name_item(row: NameRow) -> dict[str, Any]:
    """A name as DynamoDB stores it."""
    expires = address_of(row.schedule_id).due + NAME_LIFETIME
    return {
        **_entry(name_list(row.owner, row.name), ONLY),
        "v": {"N": str(VERSION)},
        "scheduleId": {"S": row.schedule_id},
        "expiresAt": {"N": str(expires // SECOND)},
    }


def request_item(row: RequestRow) -> dict[str, Any]:
    """An idempotency key as DynamoDB stores it."""
    return {
        **_entry(request_list(row.owner, row.key), ONLY),
        "v": {"N": str(VERSION)},
        "digest": {"S": row.digest},
        "scheduleId": {"S": row.schedule_id},
        "pointInTime": {"N": str(row.point_in_time)},
        "expiresAt": {"N": str(row.expires_at // SECOND)},
    }


def member_item(schedule: Schedule) -> dict[str, Any]:
    """A member of a group as DynamoDB stores it; it stands as long as its ledger row may."""
    entries = group_list(schedule.owner, schedule.group)
    expires = schedule.address.due + ROW_LIFETIME
    return member_lists.member_item(entries, schedule.id, schedule.created_at, expires)


def name_from(owner: str, name: str, item: Mapping[str, Any]) -> NameRow:
    """The inverse of name_item. A row that this code cannot read names nothing: Unavailable."""
    try:
        _check_version(item)
        return NameRow(owner=owner, name=name, schedule_id=item["scheduleId"]["S"])
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a name that cannot be read: {error!r}") from error


def request_from(owner: str, key: str, item: Mapping[str, Any]) -> RequestRow:
    """The inverse of request_item. A row that this code cannot read says nothing: Unavailable."""
    try:
        _check_version(item)
        return RequestRow(
            owner=owner,
            key=key,
            digest=item["digest"]["S"],
            schedule_id=item["scheduleId"]["S"],
            point_in_time=int(item["pointInTime"]["N"]),
            expires_at=int(item["expiresAt"]["N"]) * SECOND,
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"an idempotency key that cannot be read: {error!r}") from error


def _check_version(item: Mapping[str, Any]) -> None:
    if item["v"]["N"] != str(VERSION):
        raise ValueError(f"version {item['v']['N']}; this code reads version {VERSION}")
