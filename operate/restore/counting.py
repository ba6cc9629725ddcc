"""How many connections each owner has after a restore: those that stand, and those that came back."""

from collections.abc import Sequence
from typing import Any, Final

from attrs import define, field
from botocore.exceptions import ClientError

from delayer.connections.repository import connections_list, count_key
from delayer.engines.aws.expressions import to_attributes
from operate.restore.tables import Item

TRIES: Final = 10
_LIST: Final = connections_list("")


class StillChanging(Exception):
    """An owner makes and deletes connections all the time."""


@define(kw_only=True)
class Connections:
    """Those of one restore. A transaction of the API that comes in between is seen by the count that it changes."""

    dynamodb: Any  # a boto3 client
    table: str
    owners: set[str] = field(factory=set)

    def pick(self, items: Sequence[Item]) -> Sequence[Item]:
        """Notes whose connections are among them."""
        lists = (item["list"]["S"] for item in items)
        self.owners |= {name.removeprefix(_LIST) for name in lists if name.startswith(_LIST)}
        return items

    def count(self) -> None:
        """Errors: StillChanging, and those of botocore."""
        for owner in sorted(self.owners):
            if not any(self._is_counted(owner) for _ in range(TRIES)):
                raise StillChanging(f"the connections of {owner} change all the time: repeat the restore")

    def _is_counted(self, owner: str) -> bool:
        key = to_attributes(count_key(owner))
        row = self.dynamodb.get_item(TableName=self.table, Key=key, ConsistentRead=True).get("Item", {})
        is_same = "#count = :was" if "count" in row else "attribute_not_exists(#count)"
        values = {":number": {"N": str(self._number(owner))}, **({":was": row["count"]} if "count" in row else {})}
        try:
            self.dynamodb.update_item(
                TableName=self.table,
                Key=key,
                UpdateExpression="SET #count = :number",
                ConditionExpression=is_same,
                ExpressionAttributeNames={"#count": "count"},
                ExpressionAttributeValues=values,
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            return False
        return True

    def _number(self, owner: str) -> int:
        pages = self.dynamodb.get_paginator("query").paginate(
            TableName=self.table,
            ConsistentRead=True,
            Select="COUNT",
            KeyConditionExpression="#list = :list",
            ExpressionAttributeNames={"#list": "list"},
            ExpressionAttributeValues={":list": {"S": connections_list(owner)}},
        )
        return sum(page["Count"] for page in pages)
