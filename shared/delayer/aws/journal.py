"""The journal in DynamoDB: histories, and what an owner has (ADR 0053).

One table, `list` and `entry`. A list is `schedule#<id>` with an event in each entry, or `owner#<owner>` with a schedule
in each. Counts of what is live are beside them (`headcount`).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from delayer.aws import member_lists
from delayer.aws.batches import write_all
from delayer.aws.clients import AWS_ERRORS, log
from delayer.core import cloud_events
from delayer.core.events import Event, expiry_of
from delayer.core.instants import SECOND, Millis
from delayer.core.lifecycle import EventType
from delayer.core.wire import Unreadable
from delayer.ports import Members, Unavailable

VERSION: Final = 1

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
