"""The tokens of connections in the registry: a list `connection-token#<owner>#<name>` for each (ADR 0106)."""

from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import ONLY, Item, StoredItem, check_version, entry_key, number, text
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED, item_in_the_way
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.connections.tokens import LONGEST, TokenRow
from delayer.core.schedule.instants import DAY, SECOND
from delayer.core.schedule.malformed import UnknownVersion
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

VERSION: Final = 1


@frozen(kw_only=True)
class DynamoTokens:
    """Port TokenRows."""

    dynamodb: "DynamoDBClient"
    table: str

    def read(self, owner: str, name: str) -> TokenRow | None:
        try:
            key = token_key(owner, name)
            item = self.dynamodb.get_item(TableName=self.table, Key=key, ConsistentRead=True).get("Item")
        except AWS_ERRORS as error:
            raise Unavailable(f"read token: {error_code(error)}") from error
        return token_from(owner, name, item) if item else None

    def write(self, row: TokenRow, over: TokenRow | None) -> bool:
        item = token_item(row)
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(revision)"}
        if over:
            condition = _as_read(over)
        try:
            self.dynamodb.put_item(
                TableName=self.table, Item=item, ReturnValuesOnConditionCheckFailure="ALL_OLD", **condition
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"write token: {error_code(error)}") from error
            return item_in_the_way(error) == item  # ours, by an earlier try
        return True


def _as_read(over: TokenRow) -> dict[str, Any]:
    """A row that was removed with its connection, and made again, has the same revision soon.

    That of a later version is known by its instant alone.
    """
    values: dict[str, Any] = {":over": {"N": str(over.revision)}, ":at": {"N": str(over.fetched_at)}}
    condition: dict[str, Any] = {"ConditionExpression": "revision = :over AND fetchedAt = :at"}
    if over.secret:
        values[":secret"] = {"S": over.secret}
        condition["ConditionExpression"] += " AND #secret = :secret"
        condition["ExpressionAttributeNames"] = {"#secret": "secret"}
    return {**condition, "ExpressionAttributeValues": values}


def token_key(owner: str, name: str) -> Item:
    """Where the token of a connection is."""
    return entry_key(f"connection-token#{owner}#{name}", ONLY)


def token_item(row: TokenRow) -> Item:
    """A token as DynamoDB stores it: sealed. The TTL removes it a day after the last that there can be."""
    expires = row.fetched_at + LONGEST + DAY
    numbers = {
        "v": VERSION,
        "fetchedAt": row.fetched_at,
        "freshUntil": row.fresh_until,
        "validUntil": row.expires_at,
        "revision": row.revision,
        "expiresAt": expires // SECOND,
    }
    texts = {"secret": row.secret, "sealed": row.sealed, "failure": row.failure}
    return {
        **token_key(row.owner, row.name),
        **{name: {"N": str(value)} for name, value in numbers.items()},
        **{name: {"S": value} for name, value in texts.items() if value},
    }


def token_from(owner: str, name: str, item: StoredItem) -> TokenRow | None:
    """The inverse of token_item. One of a later version is written over, if its minute is over."""
    try:
        check_version(item, VERSION)
    except UnknownVersion:
        return TokenRow(
            owner=owner,
            name=name,
            secret="",
            fetched_at=number(item, "fetchedAt"),
            revision=max(number(item, "revision"), 1),
        )
    return TokenRow(
        owner=owner,
        name=name,
        secret=text(item, "secret"),
        fetched_at=number(item, "fetchedAt"),
        sealed=text(item, "sealed"),
        fresh_until=number(item, "freshUntil"),
        expires_at=number(item, "validUntil"),
        failure=text(item, "failure"),
        revision=number(item, "revision"),
    )
