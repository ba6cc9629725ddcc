"""Expiry of records on one machine, in the place of DynamoDB's TTL.

The embedded AWS's own TTL deletes without a stream record, so that a schedule deleted by it would be lost; and its
CloudFormation ignores the TTL of the template. A scan each minute is no model for AWS: it is fine here because the
tables are in the memory of this machine and nobody pays for it.
"""

import threading
import time
from collections.abc import Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

INTERVAL_SECONDS = 60.0


class Expiry:
    """A thread that deletes records whose `expiresAt` (epoch seconds) has passed."""

    def __init__(self, dynamodb: Any, tables: Sequence[str], interval: float = INTERVAL_SECONDS) -> None:
        self.dynamodb = dynamodb
        self.tables = tables
        self.interval = interval
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True, name="expiry")

    def start(self) -> None:
        """Start the thread."""
        self.thread.start()

    def stop(self) -> None:
        """Ask the thread to end; it does so after its present request."""
        self.stopped.set()

    def run(self) -> None:
        """Look at each table once per interval."""
        while not self.stopped.wait(self.interval):
            for table in self.tables:
                try:
                    self.expire(table, int(time.time()))
                except (ClientError, BotoCoreError):
                    continue  # the embedded AWS may be ending; the next round looks again

    def expire(self, table: str, now: int) -> int:
        """Delete what has expired at `now` (epoch seconds); how many were."""
        description = self.dynamodb.describe_table(TableName=table)["Table"]
        keys = [key["AttributeName"] for key in description["KeySchema"]]
        pages = self.dynamodb.get_paginator("scan").paginate(
            TableName=table,
            FilterExpression="expiresAt < :now",
            ExpressionAttributeValues={":now": {"N": str(now)}},
        )
        return sum(
            self.delete(table, {key: item[key] for key in keys}, now) for page in pages for item in page["Items"]
        )

    def delete(self, table: str, key: dict[str, Any], now: int) -> bool:
        """Delete one record if it is still expired."""
        try:
            self.dynamodb.delete_item(
                TableName=table,
                Key=key,
                ConditionExpression="expiresAt < :now",
                ExpressionAttributeValues={":now": {"N": str(now)}},
            )
            return True
        except self.dynamodb.exceptions.ConditionalCheckFailedException:
            return False
