"""Series in the registry (ADR 0094).

A list `series#<owner>#<id>` has two entries: `cursor`, which is small and written with each step, and `definition`. A
list `current#<minute>#<shard>` has an entry for each occurrence that is the current one of its series: by it an event
finds the series, and the net finds what no event has reported. A list `series-of#<owner>` has an entry for each series
of an owner, by its group; a list `series-name#<owner>#<name>` says which series has a name.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec
from attrs import frozen

from delayer.aws.dynamodb import ledger, registry, schedule_table
from delayer.aws.dynamodb.items.attributes import ONLY, Item, StoredItem, check_version, entry_key, number, text
from delayer.aws.dynamodb.items.lists import next_page
from delayer.aws.dynamodb.items.requests import failed_conditions, once_free, read_all
from delayer.aws.dynamodb.items.uses import is_closed, series_writes
from delayer.aws.runtime.clients import AWS_ERRORS
from delayer.aws.series.directories import directory_writes
from delayer.core.recurrence.terms import OnMissed
from delayer.core.schedule import definition as definitions
from delayer.core.schedule.bucket import Bucket
from delayer.core.schedule.instants import SECOND
from delayer.core.schedule.schedule import traits_from_text, traits_to_text
from delayer.core.schedule.schedule_id import address_of, id_in, is_relaxed
from delayer.core.series.series import Backfill, Cursor, Overlap, SeriesDefinition, SeriesState
from delayer.ports.series import (
    Filed,
    FiledPage,
    SeriesEntry,
    SeriesPage,
    SeriesTransaction,
    check_new,
    check_noted,
    check_stepped,
    named_by,
)
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

VERSION: Final = 1
CURSOR: Final = "cursor"
DEFINITION: Final = "definition"
RELAXED: Final = "relaxed"
MAX_ID: Final = 64
SHOW: Final[dict[str, Any]] = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}


@frozen(kw_only=True)
class DynamoSeries:
    """Port SeriesTable."""

    dynamodb: "DynamoDBClient"
    schedules_table: str
    relaxed_table: str
    ledger_table: str
    registry_table: str

    def cursor(self, owner: str, series: str) -> Cursor | None:
        item = self._read(owner, series, CURSOR)
        return cursor_from(owner, series, item) if item else None

    def definition(self, owner: str, series: str) -> SeriesDefinition | None:
        item = self._read(owner, series, DEFINITION)
        return definition_from(owner, item) if item else None

    def named(self, owner: str, name: str) -> str:
        item = self._get(entry_key(name_list(owner, name), ONLY))
        return _name_from(item) if item else ""

    def listed(self, owner: str, group: str | None, after: SeriesEntry | None, at_most: int) -> SeriesPage:
        list_of: Item = {":list": {"S": directory_list(owner)}}
        within: Item = {} if group is None else {":group": {"S": f"{group}#"}}
        begin: dict[str, Any] = {"ExclusiveStartKey": entry_key(directory_list(owner), _place(after))} if after else {}
        answer = self._query(list_of, within, Limit=at_most, **begin)
        more = answer.get("LastEvaluatedKey")
        return SeriesPage(
            entries=tuple(_entry_from(item) for item in answer["Items"]), more=_entry_from(more) if more else None
        )

    def cursors(self, owner: str, series: Sequence[str]) -> Mapping[str, Cursor]:
        return {one: cursor_from(owner, one, item) for one, item in self._read_all(owner, series, CURSOR).items()}

    def definitions(self, owner: str, series: Sequence[str]) -> Mapping[str, SeriesDefinition]:
        return {one: definition_from(owner, item) for one, item in self._read_all(owner, series, DEFINITION).items()}

    def live(self, owner: str, at_most: int) -> int:
        """Only counted: not one item is sent over."""
        counted, begin = 0, dict[str, Any]()
        while counted < at_most:
            over = {"FilterExpression": "attribute_not_exists(expiresAt)"}
            answer = self._query({":list": {"S": directory_list(owner)}}, {}, Select="COUNT", **over, **begin)
            counted += answer["Count"]
            if "LastEvaluatedKey" not in answer:
                break
            begin = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
        return counted

    def filed(self, schedule_id: str) -> Filed | None:
        item = self._get(filed_key(schedule_id))
        return _filed_from(item) if item else None

    def page(self, bucket: Bucket, after: str = "", at_most: int = 100) -> FiledPage:
        query = next_page(current_list(bucket), after, at_most)
        try:
            answer = self.dynamodb.query(TableName=self.registry_table, **query)
        except AWS_ERRORS as error:
            raise Unavailable(f"query current occurrences: {error}") from error
        filed: list[Filed] = []
        unread: list[str] = []
        for item in answer["Items"]:
            try:
                filed.append(_filed_from(item))
            except Unavailable:  # one of a later version must not keep the others from being looked at
                unread.append(item["entry"]["S"])
        more = answer.get("LastEvaluatedKey")
        return FiledPage(filed=tuple(filed), unread=tuple(unread), more=more["entry"]["S"] if more else "")

    def create(self, transaction: SeriesTransaction) -> bool:
        check_new(transaction)
        return self.write(transaction)

    def note(self, transaction: SeriesTransaction) -> bool:
        check_noted(transaction)
        return self.write(transaction)

    def step(self, transaction: SeriesTransaction) -> bool:
        check_stepped(transaction)
        return self.write(transaction)

    def write(self, transaction: SeriesTransaction) -> bool:
        writes = self._writes(transaction)
        try:
            once_free(lambda: self.dynamodb.transact_write_items(TransactItems=writes))
        except AWS_ERRORS as error:
            in_the_way = failed_conditions(error)
            if all(item is None for item in in_the_way):
                raise Unavailable(f"write series: {error}") from error
            if all(item in in_the_way for item in _written_by(transaction)):
                return True
            if is_closed(writes, error):
                raise Unavailable("a connection was closed meanwhile") from error
            return False
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

    def _query(self, list_of: Item, within: Item, **more: Any) -> Any:
        is_within = " AND begins_with(#entry, :group)" if within else ""
        names = {"#list": "list", "#entry": "entry"} if within else {"#list": "list"}
        try:
            return self.dynamodb.query(
                TableName=self.registry_table,
                ConsistentRead=True,
                KeyConditionExpression=f"#list = :list{is_within}",
                ExpressionAttributeNames=names,
                ExpressionAttributeValues={**list_of, **within},
                **more,
            )
        except AWS_ERRORS as error:
            raise Unavailable(f"query series: {error}") from error

    def _read_all(self, owner: str, series: Sequence[str], entry: str) -> dict[str, StoredItem]:
        """By the id of the series."""
        lists = {series_list(owner, one): one for one in series}
        items = read_all(self.dynamodb, self.registry_table, [entry_key(one, entry) for one in lists])
        return {lists[item["list"]["S"]]: item for item in items}

    def _writes(self, transaction: SeriesTransaction) -> "list[TransactWriteItemTypeDef]":
        """The cursor comes first: who repeats a transaction looks for its own."""
        cursor = transaction.cursor
        over = transaction.over.revision if transaction.over else 0
        writes = [self._registered(cursor_item(cursor), over)]
        if transaction.definition:
            earlier = transaction.over_definition.revision if transaction.over_definition else 0
            item = definition_item(cursor.series, transaction.definition)
            writes.append(self._registered(item | _expiry(cursor), earlier))
            writes += self._listings(transaction, transaction.definition)
        if transaction.unchanged:
            writes.append(self._unchanged(transaction.unchanged))
        if transaction.put_request:
            writes.append(
                registry.request_write(self.registry_table, transaction.put_request, transaction.over_request)
            )
        before, after = named_by(transaction.over), named_by(cursor)
        writes += [self._delete(self.registry_table, filed_key(one)) for one in before if one not in after]
        writes += [
            _put(self.registry_table, filed_item(one, cursor.owner, cursor.series))
            for one in after
            if one not in before
        ]
        writes += directory_writes(self.registry_table, transaction)
        writes += series_writes(self.registry_table, cursor.owner, cursor.series, transaction.uses)
        writes += [_put(self._table_of(one.id), schedule_table.to_item(one)) for one in transaction.put]
        writes += [self._delete(self._table_of(id_in(key)), schedule_table.key_item(key)) for key in transaction.delete]
        for change in transaction.ends:
            writes.append(_put(self.ledger_table, ledger.to_item(change.row), **ledger.condition_of(change), **SHOW))
        return writes

    def _table_of(self, schedule_id: str) -> str:
        return self.relaxed_table if is_relaxed(schedule_id) else self.schedules_table

    def _listings(
        self, transaction: SeriesTransaction, definition: SeriesDefinition
    ) -> "list[TransactWriteItemTypeDef]":
        """Where it is found by its group and by its name: written when it is new or moved, or expires otherwise."""
        cursor, stored = transaction.cursor, transaction.over_definition
        writes: list[TransactWriteItemTypeDef] = []
        entry, earlier = _listed_as(cursor, definition), _listed_as(cursor, stored) if stored else None
        is_new = transaction.over is None
        if earlier and earlier != entry:
            writes.append(self._delete(self.registry_table, directory_key(cursor.owner, earlier)))
        if is_new or earlier != entry or transaction.changes_expiry:
            item: Item = {**directory_key(cursor.owner, entry), "v": {"N": str(VERSION)}, **_expiry(cursor)}
            writes.append(_put(self.registry_table, item))
        if definition.name and transaction.changes_name:
            writes.append(self._name(name_item(cursor, definition.name), transaction.over_name, is_new=is_new))
        return writes

    def _name(self, item: Item, over_name: str, *, is_new: bool) -> "TransactWriteItemTypeDef":
        """That of a series which was over may have expired before its other rows did."""
        over = {"S": over_name} if is_new else item["series"]
        conditions = ["series = :over"] if over["S"] else []
        conditions += ["attribute_not_exists(series)"] if not (is_new and over_name) else []
        values = {"ExpressionAttributeValues": {":over": over}} if over["S"] else {}
        return _put(self.registry_table, item, ConditionExpression=" OR ".join(conditions), **values, **SHOW)

    def _unchanged(self, cursor: Cursor) -> "TransactWriteItemTypeDef":
        """Or gone: it may have expired meanwhile."""
        return {
            "ConditionCheck": {
                "TableName": self.registry_table,
                "Key": entry_key(series_list(cursor.owner, cursor.series), CURSOR),
                "ConditionExpression": "attribute_not_exists(revision) OR revision = :known",
                "ExpressionAttributeValues": {":known": {"N": str(cursor.revision)}},
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }

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


def _written_by(transaction: SeriesTransaction) -> list[Item]:
    """What is there if an earlier try went through, and if nobody else has written it."""
    cursor, definition = transaction.cursor, transaction.rewritten
    written = [cursor_item(cursor)]
    if transaction.is_shown_by_its_cursor:
        return written
    if definition:
        written.append(definition_item(cursor.series, definition) | _expiry(cursor))
    if transaction.put_request:
        written.append(registry.request_item(transaction.put_request))
    return written + [ledger.to_item(change.row) for change in transaction.ends]


def _put(table: str, item: Item, **condition: Any) -> "TransactWriteItemTypeDef":
    return cast("TransactWriteItemTypeDef", {"Put": {"TableName": table, "Item": item, **condition}})


def series_list(owner: str, series: str) -> str:
    """The list of one series. No id holds a `#`, so no two owners share a list."""
    return f"series#{owner}#{series}"


def directory_list(owner: str) -> str:
    """The list of all series of an owner."""
    return f"series-of#{owner}"


def directory_key(owner: str, entry: SeriesEntry) -> Item:
    """Where a series is listed: by its group, so that those of a group are found by the beginning."""
    return entry_key(directory_list(owner), _place(entry))


def _place(entry: SeriesEntry) -> str:
    return f"{entry.group}#{entry.series}"


def _entry_from(item: StoredItem) -> SeriesEntry:
    group, _, series = item["entry"]["S"].partition("#")
    return SeriesEntry(group=group, series=series)


def _listed_as(cursor: Cursor, definition: SeriesDefinition) -> SeriesEntry:
    return SeriesEntry(group=definition.definition.group, series=cursor.series)


def name_list(owner: str, name: str) -> str:
    """The list of the name of a series. No name holds a `#`."""
    return f"series-name#{owner}#{name}"


def name_item(cursor: Cursor, name: str) -> Item:
    """The name of a series as DynamoDB stores it."""
    key = entry_key(name_list(cursor.owner, name), ONLY)
    return {**key, "v": {"N": str(VERSION)}, "series": {"S": cursor.series}, **_expiry(cursor)}


def _name_from(item: StoredItem) -> str:
    try:
        check_version(item, VERSION)
        return item["series"]["S"]
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"the name of a series that cannot be read: {error!r}") from error


def _expiry(cursor: Cursor) -> Item:
    """For the TTL, if the series is over."""
    return {"expiresAt": {"N": str(cursor.expires_at // SECOND)}} if cursor.expires_at else {}


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
        schedule_id = id_in_entry(item["entry"]["S"])
        address_of(schedule_id)  # raises ValueError if it is not an id
        return Filed(schedule_id=schedule_id, owner=item["owner"]["S"], series=item["series"]["S"])
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a current occurrence that cannot be read: {error!r}") from error


def id_in_entry(entry: str) -> str:
    """The schedule that is filed there."""
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
        **_expiry(cursor),
        **({"current": {"S": cursor.current}} if cursor.current else {}),
        **({"beside": {"L": [{"S": one} for one in cursor.beside]}} if cursor.beside else {}),
        **({"backfill": {"S": msgspec.json.encode(_of_backfill(filled)).decode()}} if filled else {}),
    }


def _of_backfill(backfill: Backfill) -> dict[str, Any]:
    known = {"since": backfill.since, "until": backfill.until, "at": backfill.at, "current": backfill.current}
    return {**known, "left": backfill.left, "given_up": backfill.given_up}


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
            expires_at=number(item, "expiresAt") * SECOND,
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
        **({"traits": {"S": traits}} if (traits := traits_to_text(definition.traits)) else {}),
        **({"precision": {"S": RELAXED}} if definition.is_relaxed else {}),
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
            traits=traits_from_text(text(item, "traits") or "{}"),
            is_relaxed=text(item, "precision") == RELAXED,
            revision=int(item["revision"]["N"]),
            created_at=number(item, "createdAt"),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a series that cannot be read: {error!r}") from error
