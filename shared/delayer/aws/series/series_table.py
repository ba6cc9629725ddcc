"""Series in the registry (ADR 0094).

A list `series#<owner>#<id>` has two entries: `cursor`, which is small and written with each step, and `definition`. A
list `current#<minute>#<shard>` has an entry for each occurrence that is the current one of its series: by it an event
finds the series, and the net finds what no event has reported.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from attrs import frozen

from delayer.aws.dynamodb import ledger, schedule_table
from delayer.aws.dynamodb.items.attributes import Item, StoredItem, check_version, entry_key, number, text
from delayer.aws.dynamodb.items.requests import failed_conditions, once_free
from delayer.aws.runtime.clients import AWS_ERRORS
from delayer.aws.series.directories import directory_writes
from delayer.core.recurrence.rule import OnMissed
from delayer.core.schedule import definition as definitions
from delayer.core.schedule.bucket import Bucket
from delayer.core.schedule.schedule_id import address_of
from delayer.core.series.series import Backfill, Cursor, Overlap, SeriesDefinition, SeriesState
from delayer.ports.series import Filed, FiledPage, SeriesTransaction, named_by
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

VERSION: Final = 1
CURSOR: Final = "cursor"
DEFINITION: Final = "definition"
MAX_ID: Final = 64
SHOW: Final[dict[str, Any]] = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}


@frozen(kw_only=True)
class DynamoSeries:
    """Port SeriesTable."""

    dynamodb: "DynamoDBClient"
    schedules_table: str
    ledger_table: str
    registry_table: str

    def cursor(self, owner: str, series: str) -> Cursor | None:
        item = self._read(owner, series, CURSOR)
        return cursor_from(owner, series, item) if item else None

    def definition(self, owner: str, series: str) -> SeriesDefinition | None:
        item = self._read(owner, series, DEFINITION)
        return definition_from(owner, item) if item else None

    def filed(self, schedule_id: str) -> Filed | None:
        item = self._get(filed_key(schedule_id))
        return _filed_from(item) if item else None

    def page(self, bucket: Bucket, after: str = "", at_most: int = 100) -> FiledPage:
        values: dict[str, Any] = {":list": {"S": current_list(bucket)}}
        begin: dict[str, Any] = {"ExclusiveStartKey": filed_in(bucket, after)} if after else {}
        try:
            answer = self.dynamodb.query(
                TableName=self.registry_table,
                ConsistentRead=True,
                KeyConditionExpression="#list = :list",
                ExpressionAttributeNames={"#list": "list"},
                ExpressionAttributeValues=values,
                Limit=at_most,
                **begin,
            )
        except AWS_ERRORS as error:
            raise Unavailable(f"query current occurrences: {error}") from error
        more = answer.get("LastEvaluatedKey")
        return FiledPage(
            filed=tuple(_filed_from(item) for item in answer["Items"]), more=_id_in(more["entry"]["S"]) if more else ""
        )

    def write(self, transaction: SeriesTransaction) -> bool:
        writes = self._writes(transaction)
        try:
            once_free(lambda: self.dynamodb.transact_write_items(TransactItems=writes))
        except AWS_ERRORS as error:
            in_the_way = failed_conditions(error)
            if all(item is None for item in in_the_way):
                raise Unavailable(f"write series: {error}") from error
            # Our own cursor says that an earlier try went through. The definition does not: it is the same for longer.
            return in_the_way[0] == cursor_item(transaction.cursor)
        return True

    def _read(self, owner: str, series: str, entry: str) -> StoredItem | None:
        if "#" in series or len(series) > MAX_ID:  # made up by a client: it could lead to a series of another owner
            return None
        return self._get(entry_key(series_list(owner, series), entry))

    def _get(self, key: Item) -> StoredItem | None:
        try:
            answer = self.dynamodb.get_item(TableName=self.registry_table, Key=key, ConsistentRead=True)
        except AWS_ERRORS as error:
            raise Unavailable(f"read series: {error}") from error
        return answer.get("Item")

    def _writes(self, transaction: SeriesTransaction) -> "list[TransactWriteItemTypeDef]":
        """The cursor comes first: who repeats a transaction looks for its own."""
        cursor = transaction.cursor
        over = transaction.over.revision if transaction.over else 0
        writes = [self._registered(cursor_item(cursor), over)]
        if transaction.definition:
            earlier = transaction.over_definition.revision if transaction.over_definition else 0
            writes.append(self._registered(definition_item(cursor.series, transaction.definition), earlier))
        before, after = named_by(transaction.over), named_by(cursor)
        writes += [self._delete(self.registry_table, filed_key(one)) for one in before if one not in after]
        writes += [
            _put(self.registry_table, filed_item(one, cursor.owner, cursor.series))
            for one in after
            if one not in before
        ]
        writes += directory_writes(self.registry_table, transaction)
        writes += [_put(self.schedules_table, schedule_table.to_item(one)) for one in transaction.put]
        writes += [self._delete(self.schedules_table, schedule_table.key_item(key)) for key in transaction.delete]
        for change in transaction.ends:
            writes.append(_put(self.ledger_table, ledger.to_item(change.row), **ledger.condition_of(change), **SHOW))
        return writes

    def _registered(self, item: Item, over: int) -> "TransactWriteItemTypeDef":
        if not over:
            return _put(self.registry_table, item, ConditionExpression="attribute_not_exists(revision)", **SHOW)
        return _put(
            self.registry_table,
            item,
            ConditionExpression="revision = :over",
            ExpressionAttributeValues={":over": {"N": str(over)}},
            **SHOW,
        )

    def _delete(self, table: str, key: Item) -> "TransactWriteItemTypeDef":
        return {"Delete": {"TableName": table, "Key": key}}


def _put(table: str, item: Item, **condition: Any) -> "TransactWriteItemTypeDef":
    return cast("TransactWriteItemTypeDef", {"Put": {"TableName": table, "Item": item, **condition}})


def series_list(owner: str, series: str) -> str:
    """The list of one series. No id holds a `#`, so no two owners share a list."""
    return f"series#{owner}#{series}"


def current_list(bucket: Bucket) -> str:
    """The list of the current occurrences of a minute and shard: those of the address in their ids."""
    return f"current#{bucket.key}"


def filed_key(schedule_id: str) -> Item:
    """Where an occurrence is filed. Raises ValueError if it is not an id."""
    return filed_in(address_of(schedule_id).bucket, schedule_id)


def filed_in(bucket: Bucket, schedule_id: str) -> Item:
    """Where it is filed to be looked at again, in another minute than that of its address."""
    return entry_key(current_list(bucket), address_of(schedule_id).sort_key(schedule_id))


def filed_item(schedule_id: str, owner: str, series: str) -> Item:
    """A current occurrence as DynamoDB stores it."""
    return {**filed_key(schedule_id), **filed_values(owner, series)}


def filed_values(owner: str, series: str) -> Item:
    """The series that it is of."""
    return {"v": {"N": str(VERSION)}, "owner": {"S": owner}, "series": {"S": series}}


def _filed_from(item: StoredItem) -> Filed:
    try:
        check_version(item, VERSION)
        return Filed(schedule_id=_id_in(item["entry"]["S"]), owner=item["owner"]["S"], series=item["series"]["S"])
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a current occurrence that cannot be read: {error!r}") from error


def _id_in(entry: str) -> str:
    return entry.partition("#")[2]


def cursor_item(cursor: Cursor) -> Item:
    """A cursor as DynamoDB stores it; what is empty is left out, to stay within one write unit."""
    numbers = {
        "v": VERSION,
        "revision": cursor.revision,
        "definitionRevision": cursor.definition_revision,
        "number": cursor.number,
        "at": cursor.at,
        "passed": cursor.passed,
        "madeUp": cursor.made_up,
    }
    numbered: Item = {name: {"N": str(value)} for name, value in numbers.items() if value}
    filled = cursor.backfill
    return {
        **entry_key(series_list(cursor.owner, cursor.series), CURSOR),
        "state": {"S": cursor.state},
        **numbered,
        **({"current": {"S": cursor.current}} if cursor.current else {}),
        **({"beside": {"L": [{"S": one} for one in cursor.beside]}} if cursor.beside else {}),
        **({"backfill": {"S": msgspec.json.encode(_of_backfill(filled)).decode()}} if filled else {}),
    }


def _of_backfill(backfill: Backfill) -> dict[str, Any]:
    return {"since": backfill.since, "until": backfill.until, "at": backfill.at, "current": backfill.current}


def cursor_from(owner: str, series: str, item: StoredItem) -> Cursor:
    """The inverse of cursor_item. One that this code cannot read says nothing: Unavailable."""
    try:
        check_version(item, VERSION)
        filled = text(item, "backfill")
        beside: Any = item.get("beside", {"L": []})["L"]
        return Cursor(
            series=series,
            owner=owner,
            state=SeriesState(item["state"]["S"]),
            revision=int(item["revision"]["N"]),
            definition_revision=int(item["definitionRevision"]["N"]),
            number=number(item, "number"),
            current=text(item, "current"),
            at=number(item, "at"),
            passed=number(item, "passed"),
            made_up=number(item, "madeUp"),
            beside=tuple(one["S"] for one in beside),
            backfill=msgspec.convert(msgspec.json.decode(filled), Backfill) if filled else None,
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a series that cannot be read: {error!r}") from error


def definition_item(series: str, definition: SeriesDefinition) -> Item:
    """A definition as DynamoDB stores it."""
    given: Mapping[str, str] = definitions.given(definition.definition)
    return {
        **entry_key(series_list(definition.owner, series), DEFINITION),
        "v": {"N": str(VERSION)},
        "revision": {"N": str(definition.revision)},
        "createdAt": {"N": str(definition.created_at)},
        "repeat": {"S": definition.repeat},
        "overlap": {"S": definition.overlap},
        "onMissed": {"S": definition.on_missed},
        **({"name": {"S": definition.name}} if definition.name else {}),
        "schedule": {"M": {name: {"S": value} for name, value in given.items()}},
    }


def definition_from(owner: str, item: StoredItem) -> SeriesDefinition:
    """The inverse of definition_item. One that this code cannot read says nothing: Unavailable."""
    try:
        check_version(item, VERSION)
        stored: Any = item["schedule"]["M"]
        return SeriesDefinition(
            owner=owner,
            repeat=item["repeat"]["S"],
            overlap=Overlap(item["overlap"]["S"]),
            on_missed=OnMissed(item["onMissed"]["S"]),
            definition=definitions.from_texts({name: value["S"] for name, value in stored.items()}),
            name=text(item, "name"),
            revision=int(item["revision"]["N"]),
            created_at=number(item, "createdAt"),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a series that cannot be read: {error!r}") from error
