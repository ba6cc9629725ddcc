"""The control rows in DynamoDB: `shards`, `sweep`, `heartbeat`, `id-key`."""

import base64
from typing import TYPE_CHECKING

from attrs import frozen

from delayer.aws.dynamodb.items.attributes import Item
from delayer.aws.dynamodb.items.requests import CONDITION_FAILED
from delayer.aws.runtime.clients import AWS_ERRORS, error_code
from delayer.core.schedule.bucket import Progress, Shards
from delayer.core.schedule.instants import Millis
from delayer.ports.unavailable import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


@frozen(kw_only=True)
class DynamoControl:
    """Port Control."""

    dynamodb: "DynamoDBClient"
    table: str

    def shards(self) -> Shards | None:
        row = self._read("shards")
        return Shards(highest=int(row["highest"]["N"]), since=int(row["since"]["N"])) if row else None

    def raise_shards(self, wanted: Shards) -> Shards:
        self._write(
            "shards",
            "SET highest = :highest, since = if_not_exists(since, :since)",
            {":highest": wanted.highest, ":since": wanted.since},
            "attribute_not_exists(highest) OR highest < :highest",
        )
        current = self.shards()
        if current is None:
            raise Unavailable("the control row of the shards is missing")
        return current

    def id_key(self, candidate: bytes) -> bytes:
        encoded = base64.b64encode(candidate).decode()
        try:
            self.dynamodb.put_item(
                TableName=self.table,
                Item={"name": {"S": "id-key"}, "key": {"S": encoded}},
                ConditionExpression="attribute_not_exists(#name)",
                ExpressionAttributeNames={"#name": "name"},
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"write id key: {error}") from error
        row = self._read("id-key")
        if row is None:
            raise Unavailable("the id key is missing")
        return base64.b64decode(row["key"]["S"])

    def progress(self) -> Progress | None:
        row = self._read("sweep")
        if not row:
            return None
        return Progress(
            closed_until=int(row["closedUntil"]["N"]),
            swept_at=int(row["sweptAt"]["N"]),
            whole_at=int(row["wholeAt"]["N"]),
        )

    def advance(self, progress: Progress) -> None:
        self._write(
            "sweep",
            "SET closedUntil = :closed, sweptAt = :swept, wholeAt = :whole",
            {":closed": progress.closed_until, ":swept": progress.swept_at, ":whole": progress.whole_at},
            "attribute_not_exists(closedUntil) OR closedUntil <= :closed",
        )

    def heartbeat_seen(self) -> Millis | None:
        row = self._read("heartbeat")
        return int(row["seenAt"]["N"]) if row else None

    def note_heartbeat(self, sent_at: Millis) -> None:
        self._write("heartbeat", "SET seenAt = :at", {":at": sent_at}, "attribute_not_exists(seenAt) OR seenAt < :at")

    def _read(self, name: str) -> Item | None:
        try:
            answer = self.dynamodb.get_item(TableName=self.table, Key={"name": {"S": name}}, ConsistentRead=True)
        except AWS_ERRORS as error:
            raise Unavailable(f"read control row {name}: {error}") from error
        return answer.get("Item")

    def _write(self, name: str, update: str, values: dict[str, int], condition: str) -> None:
        """A row that is ahead already stays as it is."""
        try:
            self.dynamodb.update_item(
                TableName=self.table,
                Key={"name": {"S": name}},
                UpdateExpression=update,
                ConditionExpression=condition,
                ExpressionAttributeValues={key: {"N": str(value)} for key, value in values.items()},
            )
        except AWS_ERRORS as error:
            if error_code(error) != CONDITION_FAILED:
                raise Unavailable(f"write control row {name}: {error}") from error
