"""The registry in DynamoDB: names, groups and idempotency keys, and the transactions that keep them true (ADR 0048).

One table, `list` and `entry`. A list is `name#<owner>#<name>`, `group#<owner>#<group>` or `request#<owner>#<digest of
the key>`; jobs and rate limits have lists of their own. No name and no group holds a `#`: no two owners share a list.
"""

import hashlib
from typing import TYPE_CHECKING, Any, Final, cast

from attrs import frozen

from delayer.aws.dynamodb import ledger, schedule_table
from delayer.aws.dynamodb.items import lists, uses
from delayer.aws.dynamodb.items.attributes import ONLY, Item, StoredItem, check_version, entry_key, number, text
from delayer.aws.dynamodb.items.requests import failed_conditions, once_free
from delayer.aws.runtime.clients import AWS_ERRORS
from delayer.core.ledger.row import LedgerChange
from delayer.core.schedule.instants import DAY, SECOND, Millis
from delayer.core.schedule.margins import ROW_LIFETIME, UNDECIDED_KEPT
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import address_of, id_in, in_lane, is_undecided
from delayer.ports.registry import Members, NameRow, RequestRow, ScheduleTransaction
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

VERSION: Final = 1
NAME_LIFETIME: Final[Millis] = 400 * DAY  # after due: longer than any row of its holder, which may be redriven


@frozen(kw_only=True)
class DynamoRegistry:
    """Port Registry."""

    dynamodb: "DynamoDBClient"
    schedules_table: str
    relaxed_table: str
    waiting_table: str
    ledger_table: str
    registry_table: str

    def named(self, owner: str, name: str) -> NameRow | None:
        item = self._read(name_list(owner, name))
        return name_from(owner, name, item) if item else None

    def requested(self, owner: str, key: str) -> RequestRow | None:
        item = self._read(request_list(owner, key))
        return request_from(owner, key, item) if item else None

    def members(self, owner: str, group: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        query = lists.page_query(group_list(owner, group), since, until, after, at_most)
        try:
            answer = self.dynamodb.query(TableName=self.registry_table, ConsistentRead=True, **query)
        except AWS_ERRORS as error:
            raise Unavailable(f"query group: {error}") from error
        return lists.members_in(answer)

    def create(self, transaction: ScheduleTransaction) -> bool:
        if transaction.delete or transaction.end:
            raise ValueError("a schedule that takes the place of another is written by `replace`")
        return self.replace(transaction)

    def replace(self, transaction: ScheduleTransaction) -> bool:
        return self._transact(self._writes(transaction))

    def decide(self, transaction: ScheduleTransaction) -> bool:
        return self._transact(self._writes(transaction, leaving=transaction.end))

    def _transact(self, writes: "list[TransactWriteItemTypeDef]") -> bool:
        try:
            # No ClientRequestToken of ours: the conditions make it idempotent already, and for ever; a token is
            # forgotten after ten minutes.
            once_free(lambda: self.dynamodb.transact_write_items(TransactItems=writes))
        except AWS_ERRORS as error:
            in_the_way = [
                (write, item) for write, item in zip(writes, failed_conditions(error), strict=False) if item is not None
            ]
            if not in_the_way:
                raise Unavailable(f"write schedules: {error}") from error
            # Our own item says that an earlier try went through and its answer was lost: each item holds the id of the
            # new schedule, and all were written together.
            if any(write.get("Put", {}).get("Item") == item for write, item in in_the_way):
                return True
            if uses.is_closed(writes, error):
                raise Unavailable("its connection was closed meanwhile") from error
            return False
        return True

    def _read(self, entries: str) -> Item | None:
        try:
            answer = self.dynamodb.get_item(
                TableName=self.registry_table, Key=entry_key(entries, ONLY), ConsistentRead=True
            )
        except AWS_ERRORS as error:
            raise Unavailable(f"read registry: {error}") from error
        return answer.get("Item")

    def _writes(
        self, transaction: ScheduleTransaction, leaving: LedgerChange | None = None
    ) -> "list[TransactWriteItemTypeDef]":
        """`leaving`: the end of the one whose place in the group the new one takes."""
        put, old = transaction.put, leaving.row.schedule_id if leaving else ""
        writes = [_put(self._table_of(put.id), schedule_table.to_item(put))]
        if transaction.delete:
            key = schedule_table.key_item(transaction.delete)
            writes.append({"Delete": {"TableName": self._table_of(id_in(transaction.delete)), "Key": key}})
        if transaction.put_row:
            writes.append(self._change(LedgerChange(row=transaction.put_row)))
        if transaction.end:
            writes.append(self._change(transaction.end))
        if transaction.put_name:
            over = transaction.over_name
            writes.append(self._entry(name_item(transaction.put_name), over.schedule_id if over else None))
        if transaction.put_request:
            writes.append(request_write(self.registry_table, transaction.put_request, transaction.over_request))
        if put.definition.group:
            joined = address_of(old).due if old else put.created_at
            writes.append(_put(self.registry_table, member_item(put, joined)))
        if put.definition.group and old:
            entry = entry_key(group_list(put.owner, put.definition.group), lists.entry_of(old))
            writes.append({"Delete": {"TableName": self.registry_table, "Key": entry}})
        return [*writes, *self._use_of_connection(put, transaction.connection, old)]

    def _use_of_connection(self, put: Schedule, connection: str, old: str) -> "list[TransactWriteItemTypeDef]":
        if not connection:
            return []
        writes = [
            uses.gate_check(self.registry_table, put.owner, connection, put.id),
            _put(self.registry_table, uses.schedule_use(put, connection)),
        ]
        if old:
            key = uses.schedule_use_key(put.owner, connection, old)
            writes.append({"Delete": {"TableName": self.registry_table, "Key": key}})
        return writes

    def _table_of(self, schedule_id: str) -> str:
        return in_lane(
            schedule_id, precise=self.schedules_table, relaxed=self.relaxed_table, waiting=self.waiting_table
        )

    def _change(self, change: LedgerChange) -> "TransactWriteItemTypeDef":
        return _put(self.ledger_table, ledger.to_item(change.row), **ledger.condition_of(change), **SHOW)

    def _entry(self, item: Item, over: str | None) -> "TransactWriteItemTypeDef":
        if over is None:
            return _put(self.registry_table, item, ConditionExpression="attribute_not_exists(scheduleId)", **SHOW)
        return _put(
            self.registry_table,
            item,
            ConditionExpression="scheduleId = :current",
            ExpressionAttributeValues={":current": {"S": over}},
            **SHOW,
        )


SHOW: Final[dict[str, Any]] = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}


def _put(table: str, item: Item, **condition: Any) -> "TransactWriteItemTypeDef":
    return cast("TransactWriteItemTypeDef", {"Put": {"TableName": table, "Item": item, **condition}})


def request_write(table: str, row: RequestRow, over: RequestRow | None) -> "TransactWriteItemTypeDef":
    """In place of one that has expired, if there is one: no other has the same id and the same instant."""
    if over is None:
        return _put(table, request_item(row), ConditionExpression="attribute_not_exists(digest)", **SHOW)
    values = {":id": {"S": over.schedule_id}, ":until": {"N": str(over.expires_at // SECOND)}}
    condition = "scheduleId = :id AND expiresAt = :until"
    return _put(table, request_item(row), ConditionExpression=condition, ExpressionAttributeValues=values, **SHOW)


def name_list(owner: str, name: str) -> str:
    """The list of one name."""
    return f"name#{owner}#{name}"


def request_list(owner: str, key: str) -> str:
    """The list of one idempotency key, which may hold any character."""
    return f"request#{owner}#{hashlib.sha256(key.encode()).hexdigest()}"


def group_list(owner: str, group: str) -> str:
    """The list of a group."""
    return f"group#{owner}#{group}"


def name_item(row: NameRow) -> Item:
    """A name as DynamoDB stores it."""
    expires = address_of(row.schedule_id).due + NAME_LIFETIME
    return {
        **entry_key(name_list(row.owner, row.name), ONLY),
        "v": {"N": str(VERSION)},
        "scheduleId": {"S": row.schedule_id},
        "expiresAt": {"N": str(expires // SECOND)},
    }


def request_item(row: RequestRow) -> Item:
    """An idempotency key as DynamoDB stores it."""
    return {
        **entry_key(request_list(row.owner, row.key), ONLY),
        "v": {"N": str(VERSION)},
        "digest": {"S": row.digest},
        "scheduleId": {"S": row.schedule_id},
        "pointInTime": {"N": str(row.point_in_time)},
        "expiresAt": {"N": str(row.expires_at // SECOND)},
        **({"series": {"S": row.series}} if row.series else {}),
        **({"replaces": {"S": row.replaces}} if row.replaces else {}),
        **({"number": {"N": str(row.number)}} if row.number else {}),
        **({"state": {"S": row.state}} if row.state else {}),
    }


def member_item(schedule: Schedule, joined: Millis) -> Item:
    """A member of a group as DynamoDB stores it, for as long as its ledger row may be stored."""
    entries = group_list(schedule.owner, schedule.definition.group)
    lifetime = UNDECIDED_KEPT if is_undecided(schedule.id) else ROW_LIFETIME
    return lists.member_item(entries, schedule.id, joined, schedule.address.due + lifetime)


def name_from(owner: str, name: str, item: StoredItem) -> NameRow:
    """The inverse of name_item. A row that this code cannot read names nothing: Unavailable."""
    try:
        check_version(item, VERSION)
        return NameRow(owner=owner, name=name, schedule_id=item["scheduleId"]["S"])
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a name that cannot be read: {error!r}") from error


def request_from(owner: str, key: str, item: StoredItem) -> RequestRow:
    """The inverse of request_item. A row that this code cannot read says nothing: Unavailable."""
    try:
        check_version(item, VERSION)
        return RequestRow(
            owner=owner,
            key=key,
            digest=item["digest"]["S"],
            schedule_id=item["scheduleId"]["S"],
            point_in_time=int(item["pointInTime"]["N"]),
            expires_at=int(item["expiresAt"]["N"]) * SECOND,
            number=number(item, "number"),
            series=text(item, "series"),
            replaces=text(item, "replaces"),
            state=text(item, "state"),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"an idempotency key that cannot be read: {error!r}") from error
