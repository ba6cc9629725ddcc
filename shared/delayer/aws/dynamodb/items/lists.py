"""Lists of schedules in due order, one item for each: those of a group, and those of an owner."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from delayer.aws.dynamodb.items.attributes import Item, StoredItem, entry_key
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.schedule_id import address_of
from delayer.ports.registry import Member, Members

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import QueryOutputTypeDef


def entry_of(schedule_id: str) -> str:
    """The sort key of a member: in due order."""
    return f"{address_of(schedule_id).due:015d}#{schedule_id}"


def member_item(entries: str, schedule_id: str, created_at: Millis, expires_at: Millis) -> Item:
    """A member of the list `entries` as DynamoDB stores it."""
    return {
        **entry_key(entries, entry_of(schedule_id)),
        "createdAt": {"N": str(created_at)},
        "expiresAt": {"N": str(expires_at // SECOND)},
    }


def _member_from(item: StoredItem) -> Member:
    return Member(schedule_id=id_in(item), created_at=int(item["createdAt"]["N"]))


def id_in(item: StoredItem) -> str:
    """The id of a member, or of the key of one."""
    return item["entry"]["S"].partition("#")[2]


def next_page(entries: str, after: str, at_most: int) -> dict[str, Any]:
    """The arguments of a strongly consistent Query for a page of the list, after an entry of it."""
    begin = {"ExclusiveStartKey": entry_key(entries, after)} if after else {}
    return {
        "ConsistentRead": True,
        "KeyConditionExpression": "#list = :list",
        "ExpressionAttributeNames": {"#list": "list"},
        "ExpressionAttributeValues": {":list": {"S": entries}},
        "Limit": at_most,
        **begin,
    }


def whole_list(dynamodb: "DynamoDBClient", table: str, entries: str, *, latest: bool) -> list[StoredItem]:
    """All items of a short list, page by page; `latest`: strongly consistent. Raises what boto3 raises."""
    found: list[StoredItem] = []
    page: dict[str, Any] = {}
    while True:
        answer = dynamodb.query(
            TableName=table,
            KeyConditionExpression="#list = :list",
            ExpressionAttributeNames={"#list": "list"},
            ExpressionAttributeValues={":list": {"S": entries}},
            ConsistentRead=latest,
            **page,
        )
        found += answer["Items"]
        if "LastEvaluatedKey" not in answer:
            return found
        page = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}


def page_query(entries: str, since: Millis, until: Millis, after: str, at_most: int) -> dict[str, Any]:
    """The arguments of a Query for a page of the list: due from `since` on and before `until`, after one of them.

    No ExclusiveStartKey: DynamoDB refuses one outside the bounds, and bounds that are the wrong way round.
    """
    following = f"{entry_of(after)}!" if after else ""  # longer than its entry, and before all later ones
    first = max(f"{since:015d}", following)
    last = max(f"{until:015d}", first)
    return {
        "KeyConditionExpression": "#list = :list AND #entry BETWEEN :since AND :until",
        "ExpressionAttributeNames": {"#list": "list", "#entry": "entry"},
        "ExpressionAttributeValues": {":list": {"S": entries}, ":since": {"S": first}, ":until": {"S": last}},
        "Limit": at_most,
    }


def members_in(answer: "QueryOutputTypeDef") -> Members:
    """The page in DynamoDB's answer."""
    more = answer.get("LastEvaluatedKey")
    return Members(members=tuple(_member_from(item) for item in answer["Items"]), more=id_in(more) if more else "")


def merged(pages: Sequence[Members], at_most: int) -> Members:
    """One page of several, each of another part of the list: as many as one has, in due order.

    Behind the end of a page that is not the last of its part there may be others, which are not known yet.
    """
    known_until = min((entry_of(page.more) for page in pages if page.more), default="~")
    found = {entry_of(one.schedule_id): one for page in pages for one in page.members}
    shown = [found[entry] for entry in sorted(found) if entry <= known_until][:at_most]
    is_all = len(shown) == len(found) and not any(page.more for page in pages)
    return Members(members=tuple(shown), more="" if is_all or not shown else shown[-1].schedule_id)
