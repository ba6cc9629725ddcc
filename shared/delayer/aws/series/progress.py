"""The control rows of what keeps series going: `series-net`, `series-waiting`, `series-zoned` (ADR 0100)."""

from typing import TYPE_CHECKING, Final

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item, StoredItem, number, text
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.series.upkeep.net import Place
from delayer.core.series.upkeep.rounds import Directory, Round
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

NET: Final = "series-net"


@frozen(kw_only=True)
class DynamoSeriesProgress:
    """Port SeriesProgress."""

    dynamodb: "DynamoDBClient"
    table: str

    def place(self) -> Place | None:
        row = self._read(NET)
        if row is None:
            return None
        return Place(minute=int(row["closedUntil"]["N"]), shard=number(row, "inShard"), after=text(row, "afterId"))

    def reach(self, place: Place) -> None:
        try:
            self.dynamodb.update_item(
                TableName=self.table,
                Key={"name": {"S": NET}},
                UpdateExpression="SET closedUntil = :minute, inShard = :shard, afterId = :after",
                ConditionExpression="attribute_not_exists(closedUntil) OR closedUntil < :minute"
                " OR (closedUntil = :minute AND inShard <= :shard)",
                ExpressionAttributeValues={
                    ":minute": {"N": str(place.minute)},
                    ":shard": {"N": str(place.shard)},
                    ":after": {"S": place.after},
                },
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"write control row {NET}: {error}") from error

    def round(self, directory: Directory) -> Round | None:
        row = self._read(f"series-{directory}")
        if row is None:
            return None
        return Round(
            label=row["label"]["S"],
            began=int(row["began"]["N"]),
            part=number(row, "part"),
            after=text(row, "after"),
            is_over=row.get("isOver", {}).get("BOOL", False),
        )

    def note(self, directory: Directory, current: Round) -> None:
        item: Item = {
            "name": {"S": f"series-{directory}"},
            "label": {"S": current.label},
            "began": {"N": str(current.began)},
            "part": {"N": str(current.part)},
            "after": {"S": current.after},
            "isOver": {"BOOL": current.is_over},
        }
        try:
            self.dynamodb.put_item(TableName=self.table, Item=item)
        except AWS_ERRORS as error:
            raise Unavailable(f"write control row series-{directory}: {error}") from error

    def _read(self, name: str) -> StoredItem | None:
        try:
            answer = self.dynamodb.get_item(TableName=self.table, Key={"name": {"S": name}}, ConsistentRead=True)
        except AWS_ERRORS as error:
            raise Unavailable(f"read control row {name}: {error}") from error
        return answer.get("Item")
