"""The control row `owner-claim`."""

from typing import TYPE_CHECKING, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item, check_version, number, text
from delayer.aws.dynamodb.items.requests import updated
from delayer.aws.runtime.clients import AWS_ERRORS
from delayer.core.owners.claim import OwnerClaim
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

VERSION: Final = 1
KEY: Final[Item] = {"name": {"S": "owner-claim"}}


@frozen(kw_only=True)
class DynamoOwnerClaim:
    """Port KeepsOwnerClaim."""

    dynamodb: "DynamoDBClient"
    table: str

    def owner_claim(self) -> OwnerClaim | None:
        try:
            item = self.dynamodb.get_item(TableName=self.table, Key=KEY, ConsistentRead=True).get("Item")
        except AWS_ERRORS as error:
            raise Unavailable(f"read the owner claim: {error}") from error
        if item is None:
            return None
        try:
            check_version(item, VERSION)
        except (KeyError, ValueError) as error:
            raise Unavailable(f"an owner claim that cannot be read: {error!r}") from error
        return OwnerClaim(
            claim=text(item, "claim"),
            issuer=text(item, "issuer"),
            before=text(item, "before"),
            issuer_before=text(item, "issuerBefore"),
            changed_at=number(item, "changedAt"),
        )

    def write_owner_claim(self, claim: OwnerClaim) -> None:
        values: Item = {
            ":v": {"N": str(VERSION)},
            ":claim": {"S": claim.claim},
            ":issuer": {"S": claim.issuer},
            ":before": {"S": claim.before},
            ":issuerBefore": {"S": claim.issuer_before},
            ":at": {"N": str(claim.changed_at)},
        }
        update = (
            "SET #v = :v, claim = :claim, issuer = :issuer, #before = :before, issuerBefore = :issuerBefore, "
            "changedAt = :at"
        )
        names = {"#v": "v", "#before": "before"}
        updated(
            self.dynamodb,
            "write the owner claim",
            TableName=self.table,
            Key=KEY,
            UpdateExpression=update,
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=values,
        )
