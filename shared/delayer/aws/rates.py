"""How much an owner creates, in the registry: list `rate#<owner>`, an entry for each window of time (ADR 0054)."""

from typing import Any

from attrs import frozen

from delayer.aws.clients import AWS_ERRORS, error_code
from delayer.core.instants import SECOND, Millis
from delayer.ports import Unavailable


@frozen(kw_only=True)
class DynamoRates:
    """Port Rates."""

    dynamodb: Any
    table: str

    def spend(self, owner: str, window: str, at_most: int, expires_at: Millis) -> bool:
        if at_most < 1:
            return False  # the condition would let the first one pass
        try:
            self.dynamodb.update_item(
                TableName=self.table,
                Key={"list": {"S": f"rate#{owner}"}, "entry": {"S": window}},
                UpdateExpression="ADD #count :one SET expiresAt = :expires",
                ConditionExpression="attribute_not_exists(#count) OR #count < :most",
                ExpressionAttributeNames={"#count": "count"},
                ExpressionAttributeValues={
                    ":one": {"N": "1"},
                    ":most": {"N": str(at_most)},
                    ":expires": {"N": str(expires_at // SECOND)},
                },
            )
        except AWS_ERRORS as error:
            if error_code(error) == "ConditionalCheckFailedException":
                return False
            raise Unavailable(f"count creations: {error}") from error
        return True
