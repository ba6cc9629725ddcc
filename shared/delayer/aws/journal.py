"""The journal in DynamoDB: histories, what an owner has, and how much of it is live (ADR 0053, 0054).

One table, `list` and `entry`. A list is `schedule#<id>` with an event in each entry, `owner#<owner>` with a schedule in
each, `live#<owner>` with the parts of a count, or `counted#<id>`, whether a schedule is in that count.
"""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from delayer.aws import member_lists
from delayer.aws.batches import write_all
from delayer.aws.clients import AWS_ERRORS, error_code, log
from delayer.core import cloud_events
from delayer.core.events import Event, expiry_of
from delayer.core.instants import SECOND, Millis
from delayer.core.lifecycle import EventType
from delayer.core.wire import Unreadable
from delayer.ports import Members, Unavailable

VERSION: Final = 1
PARTS: Final = 10  # of a count: two transactions on one item at a time refuse each other
ONLY: Final = "-"  # the entry of a list that has one
COUNTED, OVER = "counted", "over"

Item = dict[str, Any]


@frozen(kw_only=True)
class DynamoJournal:
    """Port Journal."""

    dynamodb: Any
    table: str

    def keep(self, events: Sequence[Event], keep_for: Millis) -> list[int]:
        items = {_key_of(item): (event.id, item) for event in events for item in self._items(event, keep_for)}
        requests = [{"PutRequest": {"Item": item}} for _, item in items.values()]
        left = write_all(self.dynamodb, self.table, requests)
        missing = {items[_key_of(request["PutRequest"]["Item"])][0] for request in left}
        return [at for at, event in enumerate(events) if event.id in missing]

    def _items(self, event: Event, keep_for: Millis) -> list[Item]:
        expires_at = expiry_of(event, keep_for)
        items = [event_item(event, expires_at)]
        if event.type is EventType.SCHEDULED:
            items.append(member_lists.member_item(owner_list(event.owner), event.schedule_id, event.at, expires_at))
        return items

    def history(self, schedule_id: str) -> tuple[Event, ...]:
        return tuple(event for item in self._all(f"schedule#{schedule_id}") if (event := event_from(item)))

    def _all(self, entries: str) -> Iterable[Item]:
        try:
            pages = self.dynamodb.get_paginator("query").paginate(
                TableName=self.table,
                KeyConditionExpression="#list = :list",
                ExpressionAttributeNames={"#list": "list"},
                ExpressionAttributeValues={":list": {"S": entries}},
            )
            yield from (item for page in pages for item in page["Items"])
        except AWS_ERRORS as error:
            raise Unavailable(f"query journal: {error}") from error

    def owned(self, owner: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        query = member_lists.page_query(owner_list(owner), since, until, after, at_most)
        try:
            answer = self.dynamodb.query(TableName=self.table, **query)
        except AWS_ERRORS as error:
            raise Unavailable(f"query journal: {error}") from error
        return member_lists.members_in(answer)


@frozen(kw_only=True)
class DynamoHeadcount:
    """Port Headcount. Each change is one transaction with the note that the schedule was counted."""

    dynamodb: Any
    table: str

    def begun(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        absent = {"ConditionExpression": "attribute_not_exists(#list)", "ExpressionAttributeNames": {"#list": "list"}}
        note = {"Put": {"TableName": self.table, "Item": self._note(schedule_id, COUNTED, expires_at), **absent}}
        self._together(note, self._add(owner, schedule_id, 1))

    def ended(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        counted = {
            "ConditionExpression": "#state = :counted",
            "ExpressionAttributeNames": {"#state": "state"},
            "ExpressionAttributeValues": {":counted": {"S": COUNTED}},
        }
        note = self._note(schedule_id, OVER, expires_at)
        put = {"Put": {"TableName": self.table, "Item": note, **counted}}
        if not self._together(put, self._add(owner, schedule_id, -1)) and not self._over_from_the_start(note):
            raise Unavailable("its beginning was counted in between")

    def _over_from_the_start(self, note: Item) -> bool:
        """Its end was heard of first: its beginning will not be counted. Also if it is over already."""
        try:
            self.dynamodb.put_item(
                TableName=self.table,
                Item=note,
                ConditionExpression="attribute_not_exists(#list) OR #state = :over",
                ExpressionAttributeNames={"#list": "list", "#state": "state"},
                ExpressionAttributeValues={":over": {"S": OVER}},
            )
        except AWS_ERRORS as error:
            if error_code(error) == "ConditionalCheckFailedException":
                return False
            raise Unavailable(f"count schedules: {error}") from error
        return True

    def _together(self, note: Item, add: Item) -> bool:
        """False: the condition of the note failed, and nothing was written."""
        try:
            self.dynamodb.transact_write_items(TransactItems=[note, add])
        except AWS_ERRORS as error:
            reasons = (getattr(error, "response", None) or {}).get("CancellationReasons", [])
            if reasons and reasons[0].get("Code") == "ConditionalCheckFailed":
                return False
            raise Unavailable(f"count schedules: {error}") from error
        return True

    def _note(self, schedule_id: str, state: str, expires_at: Millis) -> Item:
        key = _key(f"counted#{schedule_id}", ONLY)
        return {**key, "state": {"S": state}, "expiresAt": {"N": str(expires_at // SECOND)}}

    def _add(self, owner: str, schedule_id: str, number: int) -> Item:
        part = zlib.crc32(schedule_id.encode()) % PARTS
        return {
            "Update": {
                "TableName": self.table,
                "Key": _key(f"live#{owner}", str(part)),
                "UpdateExpression": "ADD #count :number",
                "ExpressionAttributeNames": {"#count": "count"},
                "ExpressionAttributeValues": {":number": {"N": str(number)}},
            }
        }

    def live(self, owner: str) -> int:
        try:
            answer = self.dynamodb.query(
                TableName=self.table,
                KeyConditionExpression="#list = :list",
                ExpressionAttributeNames={"#list": "list"},
                ExpressionAttributeValues={":list": {"S": f"live#{owner}"}},
            )
        except AWS_ERRORS as error:
            raise Unavailable(f"count schedules: {error}") from error
        return max(sum(int(item["count"]["N"]) for item in answer["Items"]), 0)


def _key(entries: str, entry: str) -> Item:
    return {"list": {"S": entries}, "entry": {"S": entry}}


def _key_of(item: Mapping[str, Any]) -> tuple[str, str]:
    return item["list"]["S"], item["entry"]["S"]


def owner_list(owner: str) -> str:
    """The list of all schedules of an owner."""
    return f"owner#{owner}"


def event_item(event: Event, expires_at: Millis) -> Item:
    """An event as DynamoDB stores it."""
    at, order, change = event.order
    return {
        **_key(f"schedule#{event.schedule_id}", f"{at:015d}#{order + 1:05d}#{change}"),
        "v": {"N": str(VERSION)},
        "event": {"S": cloud_events.encode(event)},
        "expiresAt": {"N": str(expires_at // SECOND)},
    }


def event_from(item: Mapping[str, Any]) -> Event | None:
    """The inverse of event_item. What this code cannot read makes the history shorter, and nothing else."""
    try:
        if item["v"]["N"] != str(VERSION):
            raise ValueError(f"version {item['v']['N']}; this code reads version {VERSION}")
        return cloud_events.decode(item["event"]["S"])
    except (KeyError, ValueError, TypeError, Unreadable) as error:
        log.warning("an event of the journal that cannot be read: %r", error)
        return None
