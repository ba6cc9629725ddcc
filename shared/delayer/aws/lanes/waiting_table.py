"""What waits for its time, in DynamoDB: a partition for each shard, in the order in which it was accepted."""

from typing import TYPE_CHECKING, Any

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import StoredItem, text
from delayer.aws.runtime.clients import AWS_ERRORS
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule_id import undecided_bucket
from delayer.ports.unavailable import Unavailable
from delayer.ports.waiting_table import Waits, WaitsPage

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@frozen(kw_only=True)
class DynamoWaitingTable:
    """Port WaitingTable."""

    dynamodb: "DynamoDBClient"
    table: str

    def page(self, shard: int, since: Millis, until: Millis, after: str = "", at_most: int = 100) -> WaitsPage:
        bucket = undecided_bucket(shard)
        begin: dict[str, Any] = {"ExclusiveStartKey": {"bucket": {"S": bucket}, "due": {"S": after}}} if after else {}
        try:
            answer = self.dynamodb.query(
                TableName=self.table,
                ConsistentRead=True,
                KeyConditionExpression="#bucket = :bucket AND #due BETWEEN :since AND :until",
                ExpressionAttributeNames={"#bucket": "bucket", "#due": "due", "#when": "when"},
                ExpressionAttributeValues={
                    ":bucket": {"S": bucket},
                    ":since": {"S": f"{since:013d}"},
                    ":until": {"S": f"{until:013d}"},  # shorter than any record of that instant, and before it
                },
                ProjectionExpression="#due, #when",
                Limit=at_most,
                **begin,
            )
        except AWS_ERRORS as error:
            raise Unavailable(f"query what waits: {error}") from error
        more = answer.get("LastEvaluatedKey")
        return WaitsPage(waits=tuple(map(_waits_in, answer["Items"])), more=more["due"]["S"] if more else "")


def _waits_in(item: StoredItem) -> Waits:
    return Waits(schedule_id=item["due"]["S"].partition("#")[2], when=text(item, "when"))
