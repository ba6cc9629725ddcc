"""How much an owner creates, in the registry: list `rate#<owner>`, an entry for each window of time (ADR 0054)."""

from typing import TYPE_CHECKING

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import entry_key
from delayer.aws.dynamodb.items.requests import updated
from delayer.core.schedule.instants import SECOND, Millis

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@frozen(kw_only=True)
class DynamoRateLimit:
    """Port RateLimit."""

    dynamodb: "DynamoDBClient"
    table: str

    def spend(self, owner: str, window: str, at_most: int, expires_at: Millis) -> bool:
        if at_most < 1:
            return False  # the condition would let the first one pass
        return updated(
            self.dynamodb,
            "count creations",
            TableName=self.table,
            Key=entry_key(f"rate#{owner}", window),
            UpdateExpression="ADD #count :one SET expiresAt = :expires",
            ConditionExpression="attribute_not_exists(#count) OR #count < :most",
            ExpressionAttributeNames={"#count": "count"},
            ExpressionAttributeValues={
                ":one": {"N": "1"},
                ":most": {"N": str(at_most)},
                ":expires": {"N": str(expires_at // SECOND)},
            },
        )
