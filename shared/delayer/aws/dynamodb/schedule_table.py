"""The schedules table in DynamoDB."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item, StoredItem, check_version
from delayer.aws.dynamodb.items.requests import delete_all, put_all, read_all
from delayer.aws.runtime.clients import AWS_ERRORS
from delayer.core.schedule.bucket import Bucket, RecordKey
from delayer.core.schedule.definition import FIELDS, check_json, from_texts, given
from delayer.core.schedule.instants import SECOND
from delayer.core.schedule.malformed import Malformed, UnknownVersion
from delayer.core.schedule.schedule import NO_TRAITS, Schedule, traits_from_text, traits_to_text
from delayer.core.schedule.schedule_id import is_undecided, key_of
from delayer.core.schedule.table_change import Heartbeat, Row
from delayer.ports.schedule_table import Page
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

VERSION: Final = 1
HEARTBEAT: Final = "heartbeat"  # the bucket of the heartbeat rows
PAGE: Final = 500  # records; a bucket with more is big, and handed on
UNSENDABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # SQS would refuse it again and again


@frozen(kw_only=True)
class DynamoScheduleTable:
    """Port ScheduleTable."""

    dynamodb: "DynamoDBClient"
    table: str
    page_size: int = PAGE

    def put(self, schedule: Schedule) -> None:
        try:
            self.dynamodb.put_item(TableName=self.table, Item=to_item(schedule))
        except AWS_ERRORS as error:
            raise Unavailable(f"put schedule: {error}") from error

    def put_all(self, schedules: Sequence[Schedule]) -> list[Schedule]:
        by_key = {key_of(one.id): one for one in schedules}
        left = put_all(self.dynamodb, self.table, [to_item(one) for one in schedules])
        return [by_key[_record_key(item)] for item in left]

    def delete(self, keys: Sequence[RecordKey]) -> list[RecordKey]:
        distinct = dict.fromkeys(keys)  # BatchWriteItem refuses a key that comes twice
        return [_record_key(key) for key in delete_all(self.dynamodb, self.table, [key_item(key) for key in distinct])]

    def page(self, bucket: Bucket, after: RecordKey | None = None) -> Page:
        start: dict[str, Any] = {"ExclusiveStartKey": key_item(after)} if after else {}
        try:
            answer = self.dynamodb.query(
                TableName=self.table,
                ConsistentRead=True,
                KeyConditionExpression="#bucket = :bucket",
                ExpressionAttributeNames={"#bucket": "bucket", "#due": "due"},  # "bucket" is a reserved word
                ExpressionAttributeValues={":bucket": {"S": bucket.key}},
                ProjectionExpression="#bucket, #due",
                Limit=self.page_size,
                **start,
            )
        except AWS_ERRORS as error:
            raise Unavailable(f"query bucket {bucket.key}: {error}") from error
        more = answer.get("LastEvaluatedKey")
        return Page(keys=tuple(_record_key(item) for item in answer["Items"]), more=_record_key(more) if more else None)

    def read(self, key: RecordKey) -> Schedule | None:
        try:
            answer = self.dynamodb.get_item(TableName=self.table, Key=key_item(key), ConsistentRead=True)
        except AWS_ERRORS as error:
            raise Unavailable(f"read schedule: {error}") from error
        row = from_item(answer["Item"]) if "Item" in answer else None
        return row if isinstance(row, Schedule) else None

    def read_all(self, keys: Sequence[RecordKey]) -> dict[RecordKey, Schedule]:
        items = read_all(self.dynamodb, self.table, [key_item(key) for key in dict.fromkeys(keys)])
        rows = {_record_key(item): from_item(item) for item in items}
        return {key: row for key, row in rows.items() if isinstance(row, Schedule)}

    def beat(self, heartbeat: Heartbeat) -> None:
        key = key_item(heartbeat_key(heartbeat))
        expires: Item = {"expiresAt": {"N": str(heartbeat.sent_at // SECOND + 7 * 86_400)}}
        try:
            self.dynamodb.put_item(TableName=self.table, Item={**key, **expires})
            self.dynamodb.delete_item(TableName=self.table, Key=key)
        except AWS_ERRORS as error:
            raise Unavailable(f"heartbeat: {error}") from error


def key_item(key: RecordKey) -> Item:
    """A key as DynamoDB takes it."""
    return {"bucket": {"S": key.bucket}, "due": {"S": key.due}}


def heartbeat_key(heartbeat: Heartbeat) -> RecordKey:
    """One with a lane has a partition of its own, wherever that may be."""
    due = f"{heartbeat.sent_at:013d}"
    return RecordKey(bucket=f"{HEARTBEAT}#{heartbeat.lane}#{due}" if heartbeat.lane else HEARTBEAT, due=due)


def lane_of(bucket: str) -> str:
    """Of the bucket of a heartbeat."""
    return bucket.split("#")[1] if "#" in bucket else ""


def is_heartbeat(bucket: str) -> bool:
    """Whether it is no bucket of a minute."""
    return bucket.partition("#")[0] == HEARTBEAT


def _record_key(item: StoredItem) -> RecordKey:
    return RecordKey(bucket=item["bucket"]["S"], due=item["due"]["S"])


def to_item(schedule: Schedule) -> Item:
    """A schedule as DynamoDB stores it. Its id is in the sort key; what it does not have is left out.

    Only the payload is always there: a record that has lost it must not fire without it.
    """
    said = traits_to_text(schedule.traits)
    defined: Item = {name: {"S": value} for name, value in given(schedule.definition).items()}
    expires: Item = {"expiresAt": {"N": str(schedule.expires_at // SECOND)}}
    return {
        **key_item(key_of(schedule.id)),
        "v": {"N": str(VERSION)},
        "owner": {"S": schedule.owner},
        "pointInTime": {"N": str(schedule.point_in_time)},
        "createdAt": {"N": str(schedule.created_at)},
        **({} if is_undecided(schedule.id) else expires),  # no margin is counted from an id without a time
        "payload": {"S": ""},
        **({"traits": {"S": said}} if said else {}),
        **defined,
    }


def from_item(item: StoredItem) -> Row:
    """A row of the table, whatever it holds."""
    try:
        if is_heartbeat(item["bucket"]["S"]):
            return Heartbeat(sent_at=int(item["due"]["S"]), lane=lane_of(item["bucket"]["S"]))
        check_version(item, VERSION)
        return _schedule(item)
    except UnknownVersion as error:
        return error
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        return Malformed(f"a record that cannot be read: {type(error).__name__}: {error}")


def _schedule(item: StoredItem) -> Schedule:
    # A field of another type is no field that was left out.
    _ = item["payload"]
    defined = from_texts({one.wire_name: item[one.wire_name]["S"] for one in FIELDS if one.wire_name in item})
    schedule = Schedule(
        id=item["due"]["S"].partition("#")[2],
        owner=item["owner"]["S"],
        point_in_time=int(item["pointInTime"]["N"]),
        created_at=int(item["createdAt"]["N"]),
        definition=defined,
        traits=traits_from_text(item["traits"]["S"]) if "traits" in item else NO_TRAITS,
    )
    for text in given(defined).values():
        if UNSENDABLE.search(text):
            raise ValueError("characters that no JSON, or no SQS message, may hold")
    check_json(defined)
    _ = defined.action_type
    if key_of(schedule.id).bucket != item["bucket"]["S"]:
        raise ValueError("its id holds another address than the one it is stored at")
    return schedule
