"""Expiry of records on one machine, in place of DynamoDB's TTL.

The emulator's own TTL writes no stream record for a delete, so a schedule deleted by it would be lost; and its
CloudFormation ignores the TTL of the template. The emulator says in its streams that DynamoDB's TTL has made these
deletes. On AWS a scan each minute would be wrong. Here it is fine, because the tables are in this machine's memory and
a scan costs nothing.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from local.emulator.patches.streams import EXPIRED

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import AttributeValueTypeDef

INTERVAL_SECONDS = 60.0
RELAXED_SECONDS = (
    5.0  # what fires by its TTL alone should not keep somebody waiting who tries it; on AWS it may take days
)
EXPIRING = {INTERVAL_SECONDS: ("SchedulesTable", "LedgerTable"), RELAXED_SECONDS: ("RelaxedTable",)}


class Expiry:
    """A thread that deletes records whose `expiresAt` (epoch seconds) has passed."""

    def __init__(self, dynamodb: "DynamoDBClient", tables: Sequence[str], interval: float = INTERVAL_SECONDS) -> None:
        self.dynamodb = dynamodb
        self.tables = tables
        self.interval = interval
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True, name="expiry")

    def start(self) -> None:
        """Start the thread."""
        self.thread.start()

    def stop(self) -> None:
        """Ask the thread to end; it ends after its current request."""
        self.stopped.set()

    def run(self) -> None:
        """Check each table once per interval."""
        while not self.stopped.wait(self.interval):
            for table in self.tables:
                try:
                    self.expire(table, int(time.time()))
                except (ClientError, BotoCoreError):
                    continue  # the emulator may be ending; otherwise the next round tries again

    def expire(self, table: str, now: int) -> int:
        """Delete the records that have expired at `now` (epoch seconds); how many were deleted."""
        description = self.dynamodb.describe_table(TableName=table)["Table"]
        keys = [key["AttributeName"] for key in description["KeySchema"]]
        pages = self.dynamodb.get_paginator("scan").paginate(
            TableName=table,
            FilterExpression=EXPIRED,
            ExpressionAttributeValues={":now": {"N": str(now)}},
        )
        return sum(
            self.delete(table, {key: item[key] for key in keys}, now) for page in pages for item in page["Items"]
        )

    def delete(self, table: str, key: "Mapping[str, AttributeValueTypeDef]", now: int) -> bool:
        """Delete one record if it is still expired."""
        try:
            self.dynamodb.delete_item(
                TableName=table,
                Key=key,
                ConditionExpression=EXPIRED,
                ExpressionAttributeValues={":now": {"N": str(now)}},
            )
            return True
        except self.dynamodb.exceptions.ConditionalCheckFailedException:
            return False
