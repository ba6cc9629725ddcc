"""Blocks in the registry: the list `flow`, an entry for each (ADR 0110)."""

from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item, StoredItem, check_version, entry_key, number, text
from delayer.aws.dynamodb.items.lists import whole_list
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED, item_in_the_way
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.flow.block import Block, Kind
from delayer.core.flow.party import EVERY, Party
from delayer.core.schedule.instants import SECOND
from delayer.ports.flow import Rows
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

VERSION: Final = 1
LIST: Final = "flow"
EVERYTHING: Final = Party(owner=EVERY, target=EVERY)  # nothing suspends all
MALFORMED: Final = 0  # the revision of a suspension of which only the party can be read
OF_ANOTHER_VERSION: Final = "suspended; why, this version of Delayer cannot read"
SAME: Final = "revision = :revision AND since = :since"


@frozen(kw_only=True)
class DynamoBlocks:
    """Port Blocks."""

    dynamodb: "DynamoDBClient"
    table: str

    def rows(self, *, latest: bool) -> Rows:
        found = [(item["entry"]["S"], from_item(item)) for item in self._items(latest=latest)]
        return Rows(
            blocks=tuple(block for _, block in found if block),
            malformed=tuple(key for key, block in found if not block or block.revision == MALFORMED),
        )

    def _items(self, *, latest: bool) -> list[StoredItem]:
        try:
            return whole_list(self.dynamodb, self.table, LIST, latest=latest)
        except AWS_ERRORS as error:
            raise Unavailable(f"read blocks: {error}") from error

    def change(self, block: Block, over: Block | None = None) -> bool:
        item = to_item(block)
        try:
            self.dynamodb.put_item(
                TableName=self.table,
                Item=item,
                ReturnValuesOnConditionCheckFailure="ALL_OLD",
                **_over(over or block, block.revision - 1),
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

    def discard(self, key: str) -> bool:
        """The row that is removed is the one that was looked at: its revision, readable or not, is the same."""
        item = next((item for item in self._items(latest=True) if item["entry"]["S"] == key), None)
        if item is None or _is_whole(from_item(item)):
            return False
        try:
            self.dynamodb.delete_item(TableName=self.table, Key=entry_key(LIST, key), **_as_it_was(item))
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"discard a row: {error}") from error
            return False
        return True


def _is_whole(block: Block | None) -> bool:
    return block is not None and block.revision != MALFORMED


def _as_it_was(item: StoredItem) -> dict[str, Any]:
    if "revision" not in item:
        return {"ConditionExpression": "attribute_not_exists(revision)"}
    return {
        "ConditionExpression": "revision = :revision",
        "ExpressionAttributeValues": {":revision": item["revision"]},
    }


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
        **({"pausedUntil": block.paused_until} if block.paused_until else {}),
        **({"every": block.every} if block.every else {}),
        **({"concurrency": block.concurrency} if block.concurrency else {}),
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


def from_item(item: StoredItem) -> Block | None:
    """The inverse of to_item. Of a suspension, what can be read of it; None for any other row that cannot be read."""
    try:
        check_version(item, VERSION)
        return Block(
            kind=Kind(item["kind"]["S"]),
            party=_party(item),
            revision=int(item["revision"]["N"]),
            since=int(item["since"]["N"]),
            reason=text(item, "reason"),
            until=number(item, "until"),
            pauses=number(item, "pauses"),
            probe=text(item, "probe"),
            probe_until=number(item, "probeUntil"),
            paused_until=number(item, "pausedUntil"),
            by=text(item, "by"),
            every=number(item, "every"),
            concurrency=number(item, "concurrency"),
        )
    except (KeyError, ValueError, TypeError, AttributeError):
        return _suspension(item)


def _suspension(item: StoredItem) -> Block | None:
    """Whoever has suspended it is relied upon, also by code that is older than the row."""
    try:
        is_suspension, party = item["kind"]["S"] == Kind.SUSPENSION, _party(item)
    except (KeyError, TypeError, AttributeError):
        return None
    if not is_suspension or party == EVERYTHING:
        return None
    return Block(kind=Kind.SUSPENSION, party=party, revision=MALFORMED, since=0, reason=OF_ANOTHER_VERSION)


def _party(item: StoredItem) -> Party:
    return Party(owner=text(item, "owner"), target=text(item, "target"))
