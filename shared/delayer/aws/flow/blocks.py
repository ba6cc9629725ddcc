"""Blocks in the registry: the list `flow`, an entry for each (ADR 0110)."""

from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item, StoredItem, check_version, entry_key, number, text
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED, item_in_the_way
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.flow.block import Block, Kind
from delayer.core.flow.party import Party
from delayer.core.schedule.instants import SECOND
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

VERSION: Final = 1
LIST: Final = "flow"
SAME: Final = "revision = :revision AND since = :since"


@frozen(kw_only=True)
class DynamoBlocks:
    """Port Blocks."""

    dynamodb: "DynamoDBClient"
    table: str

    def blocks(self) -> tuple[Block, ...]:
        found: list[Block] = []
        page: dict[str, Any] = {}
        try:
            while True:
                answer = self.dynamodb.query(
                    TableName=self.table,
                    KeyConditionExpression="#list = :list",
                    ExpressionAttributeNames={"#list": "list"},
                    ExpressionAttributeValues={":list": {"S": LIST}},
                    ConsistentRead=True,
                    **page,
                )
                found += map(from_item, answer["Items"])
                if "LastEvaluatedKey" not in answer:
                    return tuple(found)
                page = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
        except AWS_ERRORS as error:
            raise Unavailable(f"read blocks: {error}") from error

    def change(self, block: Block) -> bool:
        item = to_item(block)
        try:
            self.dynamodb.put_item(
                TableName=self.table,
                Item=item,
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **_over(block, block.revision - 1),
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"write block: {error}") from error
            return item_in_the_way(error) == item
        return True

    def remove(self, block: Block) -> bool:
        try:
            self.dynamodb.delete_item(
                TableName=self.table,
                Key=entry_key(LIST, block.key),
                ConditionExpression=f"attribute_not_exists(entry) OR ({SAME})",
                ExpressionAttributeValues=_values(block, block.revision),
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"remove block: {error}") from error
            return False
        return True


def _over(block: Block, revision: int) -> dict[str, Any]:
    if revision == 0:
        return {"ConditionExpression": "attribute_not_exists(entry)"}
    return {"ConditionExpression": SAME, "ExpressionAttributeValues": _values(block, revision)}


def _values(block: Block, revision: int) -> Item:
    """One that was written after this one was removed has other revisions, of which some are the same numbers."""
    return {":revision": {"N": str(revision)}, ":since": {"N": str(block.since)}}


def to_item(block: Block) -> Item:
    """A block as DynamoDB stores it."""
    numbers = {
        "v": VERSION,
        "revision": block.revision,
        "since": block.since,
        "until": block.until,
        "pauses": block.pauses,
        "probeUntil": block.probe_until,
        **({"expiresAt": block.expires_at // SECOND} if block.expires_at else {}),
    }
    texts = {
        "kind": block.kind.value,
        "owner": block.party.owner,
        "target": block.party.target,
        "reason": block.reason,
        "probe": block.probe,
        "by": block.by,
    }
    numbered: Item = {name: {"N": str(value)} for name, value in numbers.items()}
    return {**entry_key(LIST, block.key), **numbered, **{name: {"S": value} for name, value in texts.items() if value}}


def from_item(item: StoredItem) -> Block:
    """The inverse of to_item. A row that this code cannot read says nothing: Unavailable."""
    try:
        check_version(item, VERSION)
        return Block(
            kind=Kind(item["kind"]["S"]),
            party=Party(owner=text(item, "owner"), target=text(item, "target")),
            revision=int(item["revision"]["N"]),
            since=int(item["since"]["N"]),
            reason=text(item, "reason"),
            until=number(item, "until"),
            pauses=number(item, "pauses"),
            probe=text(item, "probe"),
            probe_until=number(item, "probeUntil"),
            by=text(item, "by"),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Unavailable(f"a block that cannot be read: {error!r}") from error
