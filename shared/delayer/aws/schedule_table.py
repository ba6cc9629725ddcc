"""The schedules table in DynamoDB."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from delayer.aws.batches import read_all, write_all
from delayer.aws.clients import AWS_ERRORS
from delayer.core.bucket import Bucket
from delayer.core.enqueueing import Garbled, Heartbeat
from delayer.core.instants import SECOND, Millis
from delayer.core.schedule import Schedule
from delayer.ports import Page, RecordKey, Unavailable

VERSION = 1
HEARTBEAT = "heartbeat"  # the bucket of the heartbeat rows
PAGE = 500  # records; a bucket with more is big, and handed on
UNSENDABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # SQS would refuse it again and again
OPTIONAL = {"group": "group", "on_late": "onLate", "tags": "tags"}


@frozen(kw_only=True)
class DynamoScheduleTable:
    """Port ScheduleTable."""

    dynamodb: Any
    table: str
    page_size: int = PAGE

    def put(self, schedule: Schedule) -> None:
        try:
            self.dynamodb.put_item(TableName=self.table, Item=to_item(schedule))
        except AWS_ERRORS as error:
            raise Unavailable(f"put schedule: {error}") from error

    def delete(self, keys: Sequence[RecordKey]) -> list[RecordKey]:
        distinct = dict.fromkeys(keys)  # BatchWriteItem refuses a key that comes twice
        requests = [{"DeleteRequest": {"Key": _key(key)}} for key in distinct]
        left = write_all(self.dynamodb, self.table, requests)
        return [_record_key(request["DeleteRequest"]["Key"]) for request in left]

    def page(self, bucket: Bucket, after: RecordKey | None = None) -> Page:
        start = {"ExclusiveStartKey": _key(after)} if after else {}
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
        return Page(tuple(_record_key(item) for item in answer["Items"]), _record_key(more) if more else None)

    def read(self, key: RecordKey) -> Schedule | None:
        try:
            answer = self.dynamodb.get_item(TableName=self.table, Key=_key(key), ConsistentRead=True)
        except AWS_ERRORS as error:
            raise Unavailable(f"read schedule: {error}") from error
        row = from_item(answer["Item"]) if "Item" in answer else None
        return row if isinstance(row, Schedule) else None

    def read_all(self, keys: Sequence[RecordKey]) -> dict[RecordKey, Schedule]:
        items = read_all(self.dynamodb, self.table, [_key(key) for key in dict.fromkeys(keys)])
        rows = {_record_key(item): from_item(item) for item in items}
        return {key: row for key, row in rows.items() if isinstance(row, Schedule)}

    def beat(self, sent_at: Millis) -> None:
        key = {"bucket": {"S": HEARTBEAT}, "due": {"S": f"{sent_at:013d}"}}
        expires = {"N": str(sent_at // SECOND + 7 * 86_400)}
        try:
            self.dynamodb.put_item(TableName=self.table, Item={**key, "expiresAt": expires})
            self.dynamodb.delete_item(TableName=self.table, Key=key)
        except AWS_ERRORS as error:
            raise Unavailable(f"heartbeat: {error}") from error


def _key(key: RecordKey) -> dict[str, Any]:
    return {"bucket": {"S": key.bucket}, "due": {"S": key.due}}


def _record_key(item: Mapping[str, Any]) -> RecordKey:
    return RecordKey(bucket=item["bucket"]["S"], due=item["due"]["S"])


def to_item(schedule: Schedule) -> dict[str, Any]:
    """A schedule as DynamoDB stores it. Its id is in the sort key; what it does not have is left out."""
    optional = {name: getattr(schedule, field) for field, name in OPTIONAL.items()}
    return {
        "bucket": {"S": schedule.address.bucket.key},
        "due": {"S": schedule.address.sort_key(schedule.id)},
        "v": {"N": str(VERSION)},
        "owner": {"S": schedule.owner},
        "pointInTime": {"N": str(schedule.point_in_time)},
        "actionType": {"S": schedule.action_type},
        "action": {"S": schedule.action},
        "payload": {"S": schedule.payload},
        "createdAt": {"N": str(schedule.created_at)},
        "expiresAt": {"N": str(schedule.expires_at // SECOND)},
        **{name: {"S": value} for name, value in optional.items() if value},
    }


def from_item(item: Mapping[str, Any]) -> Schedule | Heartbeat | Garbled:
    """A row of the table, whatever it holds."""
    try:
        if item["bucket"]["S"] == HEARTBEAT:
            return Heartbeat(int(item["due"]["S"]))
        if item["v"]["N"] != str(VERSION):
            return Garbled(f"a record of version {item['v']['N']}; this code reads version {VERSION}")
        return _schedule(item)
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        return Garbled(f"a record that cannot be read: {type(error).__name__}: {error}")


def _schedule(item: Mapping[str, Any]) -> Schedule:
    schedule = Schedule(
        id=item["due"]["S"].partition("#")[2],
        owner=item["owner"]["S"],
        point_in_time=int(item["pointInTime"]["N"]),
        action_type=item["actionType"]["S"],
        action=item["action"]["S"],
        payload=item["payload"]["S"],
        created_at=int(item["createdAt"]["N"]),
        **{field: item[name]["S"] for field, name in OPTIONAL.items() if name in item},
    )
    json.loads(schedule.action)
    if UNSENDABLE.search(schedule.payload + schedule.action + schedule.tags + schedule.on_late + schedule.group):
        raise ValueError("characters that no JSON, or no SQS message, may hold")
    if schedule.address.bucket.key != item["bucket"]["S"]:
        raise ValueError("its id holds another address than the one it stands at")
    return schedule
