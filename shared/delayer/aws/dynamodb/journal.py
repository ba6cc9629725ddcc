"""The journal in DynamoDB: histories, and the schedules of an owner (ADR 0053).

One table, `list` and `entry`. A list is `schedule#<id>` with an event in each entry, or `owner#<owner>` or
`series#<owner>#<series>` with a schedule in each. The counts of live schedules are in the same table (`live_count`).
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from attrs import frozen

from delayer.aws.dynamodb.items import lists
from delayer.aws.dynamodb.items.attributes import Item, StoredItem, check_version, entry_key
from delayer.aws.dynamodb.items.requests import put_all
from delayer.aws.runtime.clients import AWS_ERRORS, log
from delayer.core.history import cloud_events
from delayer.core.history.events import Event, expiry_of
from delayer.core.ledger.lifecycle import EventType
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.malformed import Malformed
from delayer.core.series.occurrence import Occurrence
from delayer.ports.journal import JournalEntry, PastOccurrence, PastOccurrences
from delayer.ports.registry import Members
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

VERSION: Final = 1


@frozen(kw_only=True)
class DynamoJournal:
    """Port Journal."""

    dynamodb: "DynamoDBClient"
    table: str

    def write(self, entries: Sequence[JournalEntry], keep_for: Millis) -> list[int]:
        items = {_key_of(item): (one.event.id, item) for one in entries for item in _items(one, keep_for)}
        left = put_all(self.dynamodb, self.table, [item for _, item in items.values()])
        missing = {items[_key_of(item)][0] for item in left}
        return [at for at, entry in enumerate(entries) if entry.event.id in missing]

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
        query = lists.page_query(owner_list(owner), since, until, after, at_most)
        try:
            answer = self.dynamodb.query(TableName=self.table, **query)
        except AWS_ERRORS as error:
            raise Unavailable(f"query journal: {error}") from error
        return lists.members_in(answer)

    def occurrences(self, owner: str, series: str, after: str, at_most: int) -> PastOccurrences:
        values: Item = {":list": {"S": series_list(owner, series)}}
        if after:
            values[":before"] = {"S": lists.entry_of(after)}
        try:
            answer = self.dynamodb.query(
                TableName=self.table,
                KeyConditionExpression="#list = :list" + (" AND #entry < :before" if after else ""),
                ExpressionAttributeNames={"#list": "list"} | ({"#entry": "entry"} if after else {}),
                ExpressionAttributeValues=values,
                ScanIndexForward=False,
                Limit=at_most,
            )
        except AWS_ERRORS as error:
            raise Unavailable(f"query journal: {error}") from error
        more = answer.get("LastEvaluatedKey")
        found = tuple(one for item in answer["Items"] if (one := occurrence_from(item)))
        return PastOccurrences(occurrences=found, more=lists.id_in(more) if more else "")


def _items(entry: JournalEntry, keep_for: Millis) -> list[Item]:
    event, expires_at = entry.event, expiry_of(entry.event, keep_for)
    items = [event_item(entry, expires_at)]
    if event.type is EventType.SCHEDULED:
        items.append(lists.member_item(owner_list(event.owner), event.schedule_id, event.at, expires_at))
    if entry.occurrence:
        items.append(occurrence_item(entry.event, entry.occurrence, expires_at))
    return items


def _key_of(item: StoredItem) -> tuple[str, str]:
    return item["list"]["S"], item["entry"]["S"]


def owner_list(owner: str) -> str:
    """The list of all schedules of an owner."""
    return f"owner#{owner}"


def series_list(owner: str, series: str) -> str:
    """The list of the occurrences of a series. No id of a series holds a `#`."""
    return f"series#{owner}#{series}"


def occurrence_item(event: Event, occurrence: Occurrence, expires_at: Millis) -> Item:
    """An occurrence as DynamoDB stores it, in the list of its series."""
    entries = series_list(event.owner, occurrence.series)
    which: Item = {"number": {"N": str(occurrence.number)}, "time": {"N": str(occurrence.time)}}
    return lists.member_item(entries, event.schedule_id, event.at, expires_at) | which


def occurrence_from(item: StoredItem) -> PastOccurrence | None:
    """The inverse of occurrence_item. What this code cannot read makes the list shorter, and nothing else."""
    try:
        number, time = int(item["number"]["N"]), int(item["time"]["N"])
        return PastOccurrence(schedule_id=lists.id_in(item), number=number, time=time)
    except (KeyError, ValueError, TypeError) as error:
        log.warning("an occurrence in the journal that cannot be read: %r", error)
        return None


def event_item(entry: JournalEntry, expires_at: Millis) -> Item:
    """An event as DynamoDB stores it: the text in which it came."""
    at, order, change = entry.event.order
    return {
        **entry_key(f"schedule#{entry.event.schedule_id}", f"{at:015d}#{order + 1:05d}#{change}"),
        "v": {"N": str(VERSION)},
        "event": {"S": entry.text},
        "expiresAt": {"N": str(expires_at // SECOND)},
    }


def event_from(item: StoredItem) -> Event | None:
    """The inverse of event_item. What this code cannot read makes the history shorter, and nothing else."""
    try:
        check_version(item, VERSION)
        return cloud_events.decode(item["event"]["S"])
    except (KeyError, ValueError, TypeError, Malformed) as error:
        log.warning("an event of the journal that cannot be read: %r", error)
        return None
