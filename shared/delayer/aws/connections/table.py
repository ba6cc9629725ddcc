"""Connections in the registry: a list `connections#<owner>`, by name; `connection-secrets` has the notes (ADR 0105).

`connection-count#<owner>` says how many there are: so the transaction that makes one knows whether there is room.
"""

from typing import TYPE_CHECKING, Any, Final, cast

from attrs import frozen

from delayer.aws.connections.tokens import token_key
from delayer.aws.dynamodb.items import uses
from delayer.aws.dynamodb.items.attributes import ONLY, Item, StoredItem, check_version, entry_key, number, text
from delayer.aws.dynamodb.items.lists import next_page
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED, failed_conditions, once_free
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.connections.connection import MOST, Connection, ConnectionType, SecretNote
from delayer.core.schedule.instants import Millis
from delayer.ports.connections import ConnectionPage, Full, UsePage
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

VERSION: Final = 1
NOTES: Final = "connection-secrets"
SHOW: Final[dict[str, Any]] = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}


@frozen(kw_only=True)
class DynamoConnections:
    """Port Connections."""

    dynamodb: "DynamoDBClient"
    table: str

    def read(self, owner: str, name: str) -> Connection | None:
        try:
            key = connection_key(owner, name)
            item = self.dynamodb.get_item(TableName=self.table, Key=key, ConsistentRead=True).get("Item")
        except AWS_ERRORS as error:
            raise Unavailable(f"read connection: {error}") from error
        return connection_from(owner, item) if item else None

    def listed(self, owner: str, after: str, at_most: int) -> ConnectionPage:
        answer = self._query(connections_list(owner), after, at_most)
        more = answer.get("LastEvaluatedKey")
        return ConnectionPage(
            connections=tuple(connection_from(owner, item) for item in answer["Items"]),
            more=more["entry"]["S"] if more else "",
        )

    def uses(self, owner: str, name: str, after: str, at_most: int) -> UsePage:
        answer = self._query(uses.uses_list(owner, name), after, at_most, ScanIndexForward=False)
        more = answer.get("LastEvaluatedKey")
        return UsePage(
            uses=tuple(uses.use_from(item) for item in answer["Items"]), more=more["entry"]["S"] if more else ""
        )

    def write(
        self,
        row: Connection,
        over: Connection | None,
        named: SecretNote | None = None,
        left: SecretNote | None = None,
    ) -> bool:
        item = connection_item(row)
        writes = [self._put(item, **_over(over)), *self._gates(row, over)]
        if named:
            writes.append(self._vouched(named))
        if left:
            writes.append(self._put(note_item(left)))
        if over is None:
            writes.append(self._counted(row.owner, 1))
        failed = self._transact(writes)
        if failed and over is None and failed[-1] is not None and failed[0] is None:
            raise Full
        return failed is None or failed[0] == item  # our own item: an earlier try went through

    def remove(self, over: Connection, left: SecretNote) -> bool:
        gates = [self._delete(key) for key in uses.gate_keys(over.owner, over.name)]
        row = self._delete(connection_key(over.owner, over.name), **_over(over))
        token = self._delete(token_key(over.owner, over.name))
        writes = [row, *gates, token, self._put(note_item(left))]
        failed = self._transact([*writes, self._counted(over.owner, -1)])
        if failed and failed[0] is None and failed[-1] is not None:  # there is no count, or it is too low
            failed = self._transact(writes)
        return failed is None or failed[0] == {}  # it is gone: an earlier try went through, or another call's

    def note(self, note: SecretNote) -> None:
        try:
            self.dynamodb.put_item(TableName=self.table, Item=note_item(note))
        except AWS_ERRORS as error:
            raise Unavailable(f"note a secret: {error}") from error

    def notes(self, before: Millis, at_most: int) -> tuple[SecretNote, ...]:
        try:
            answer = self.dynamodb.query(
                TableName=self.table,
                ConsistentRead=True,
                KeyConditionExpression="#list = :list AND #entry < :before",
                ExpressionAttributeNames={"#list": "list", "#entry": "entry"},
                ExpressionAttributeValues={":list": {"S": NOTES}, ":before": {"S": f"{before:015d}"}},
                Limit=at_most,
            )
        except AWS_ERRORS as error:
            raise Unavailable(f"query notes of secrets: {error}") from error
        return tuple(_note_from(item) for item in answer["Items"])

    def doom(self, note: SecretNote) -> bool:
        item = note_item(note) | {"doomed": {"BOOL": True}}
        try:
            condition = "attribute_exists(entry)"
            once_free(lambda: self.dynamodb.put_item(TableName=self.table, Item=item, ConditionExpression=condition))
        except AWS_ERRORS as error:
            if error_code(error) == CONDITION_FAILED:
                return False
            raise Unavailable(f"doom a secret: {error}") from error
        return True

    def forget(self, note: SecretNote) -> None:
        try:
            once_free(lambda: self.dynamodb.delete_item(TableName=self.table, Key=note_key(note)))
        except AWS_ERRORS as error:
            raise Unavailable(f"forget a secret: {error}") from error

    def _query(self, entries: str, after: str, at_most: int, **more: Any) -> Any:
        try:
            return self.dynamodb.query(TableName=self.table, **next_page(entries, after, at_most), **more)
        except AWS_ERRORS as error:
            raise Unavailable(f"query connections: {error}") from error

    def _transact(self, writes: "list[TransactWriteItemTypeDef]") -> list[Item | None] | None:
        """None if it was done; else the items whose conditions failed, empty ones for those that are not there."""
        try:
            once_free(lambda: self.dynamodb.transact_write_items(TransactItems=writes))
        except AWS_ERRORS as error:
            failed = failed_conditions(error)
            if all(item is None for item in failed):
                raise Unavailable(f"write connection: {error}") from error
            return failed
        return None

    def _gates(self, row: Connection, over: Connection | None) -> "list[TransactWriteItemTypeDef]":
        """They are there as long as it is open."""
        was_open, is_open = over is not None and not over.closing, not row.closing
        if was_open == is_open:
            return []
        keys = uses.gate_keys(row.owner, row.name)
        return [self._put(key) for key in keys] if is_open else [self._delete(key) for key in keys]

    def _vouched(self, note: SecretNote) -> "TransactWriteItemTypeDef":
        return self._delete(
            note_key(note), ConditionExpression="attribute_exists(entry) AND attribute_not_exists(doomed)", **SHOW
        )

    def _counted(self, owner: str, more: int) -> "TransactWriteItemTypeDef":
        """A first one has no count to be compared with. No count falls below nought: it would let in too many."""
        condition = "attribute_not_exists(#count) OR #count < :end" if more > 0 else "#count > :end"
        values = {":more": {"N": str(more)}, ":end": {"N": str(MOST if more > 0 else 0)}}
        update: dict[str, Any] = {
            "TableName": self.table,
            "Key": count_key(owner),
            "UpdateExpression": "ADD #count :more",
            "ExpressionAttributeNames": {"#count": "count"},
            "ExpressionAttributeValues": values,
            "ConditionExpression": condition,
            **SHOW,
        }
        return cast("TransactWriteItemTypeDef", {"Update": update})

    def _put(self, item: Item, **condition: Any) -> "TransactWriteItemTypeDef":
        return cast("TransactWriteItemTypeDef", {"Put": {"TableName": self.table, "Item": item, **condition}})

    def _delete(self, key: Item, **condition: Any) -> "TransactWriteItemTypeDef":
        return cast("TransactWriteItemTypeDef", {"Delete": {"TableName": self.table, "Key": key, **condition}})


def _over(over: Connection | None) -> dict[str, Any]:
    if over is None:
        return {"ConditionExpression": "attribute_not_exists(revision)", **SHOW}
    # A row that was removed and made again has the same revision soon, but each PUT has a secret of its own.
    names = {"#secret": "secret"}
    values = {":over": {"N": str(over.revision)}, ":secret": {"S": over.secret}}
    return {
        "ConditionExpression": "revision = :over AND #secret = :secret",
        "ExpressionAttributeNames": names,
        "ExpressionAttributeValues": values,
        **SHOW,
    }


def connections_list(owner: str) -> str:
    """The list of the connections of an owner."""
    return f"connections#{owner}"


def connection_key(owner: str, name: str) -> Item:
    """Where a connection is."""
    return entry_key(connections_list(owner), name)


def count_key(owner: str) -> Item:
    """Where it is said how many connections an owner has."""
    return entry_key(f"connection-count#{owner}", ONLY)


def connection_item(row: Connection) -> Item:
    """A connection as DynamoDB stores it. Nothing in it is a secret."""
    return {
        **connection_key(row.owner, row.name),
        "v": {"N": str(VERSION)},
        "type": {"S": row.type},
        "secret": {"S": row.secret},
        "header": {"S": row.header},
        "shown": {"S": row.shown},
        "revision": {"N": str(row.revision)},
        "createdAt": {"N": str(row.created_at)},
        "changedAt": {"N": str(row.changed_at)},
        **({"hosts": {"L": [{"S": one} for one in row.hosts]}} if row.hosts else {}),
        **({"closing": {"BOOL": True}} if row.closing else {}),
    }


def connection_from(owner: str, item: StoredItem) -> Connection:
    """The inverse of connection_item. One that this code cannot read says nothing: Unavailable."""
    try:
        check_version(item, VERSION)
        return Connection(
            owner=owner,
            name=item["entry"]["S"],
            type=ConnectionType(item["type"]["S"]),
            secret=item["secret"]["S"],
            header=item["header"]["S"],
            shown=text(item, "shown"),
            revision=int(item["revision"]["N"]),
            created_at=number(item, "createdAt"),
            changed_at=number(item, "changedAt"),
            closing="closing" in item,
            hosts=tuple(one["S"] for one in item["hosts"]["L"]) if "hosts" in item else (),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a connection that cannot be read: {error!r}") from error


def note_key(note: SecretNote) -> Item:
    """Where a secret is noted."""
    return entry_key(NOTES, f"{note.since:015d}#{note.secret}")


def note_item(note: SecretNote) -> Item:
    """A note as DynamoDB stores it."""
    doomed: Item = {"doomed": {"BOOL": True}} if note.doomed else {}
    return {**note_key(note), "owner": {"S": note.owner}, **doomed}


def _note_from(item: StoredItem) -> SecretNote:
    since, _, secret = item["entry"]["S"].partition("#")
    return SecretNote(owner=item["owner"]["S"], secret=secret, since=int(since), doomed="doomed" in item)
