"""Copies a table: scans the one, and puts into the other what is not there yet, so many items a second."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from attrs import define, frozen
from botocore.exceptions import ClientError

from delayer.lambdas.table_stream import RESTORED
from delayer.schedule.instants import Millis
from operate.restore.tables import Decision, Item, Table

AT_ONCE: Final = 16  # puts
THERE: Final = "there already"
CHUNK: Final = 100  # items between two looks at the clock
Counted = Counter[str]
Progress = Callable[[Mapping[str, int]], None]


class WrongTable(Exception):
    """The table that was named is not what it was named as; the text says how one can see it."""


@define(kw_only=True)
class Pace:
    """At most so many items a second, however fast the tables are."""

    rate: int
    sleep: Callable[[float], None] = time.sleep
    began: float = 0
    done: int = 0

    def after(self, items: int) -> None:
        """Wait until so many more are allowed."""
        self.began = self.began or time.monotonic()
        self.done += items
        self.sleep(max(self.began + self.done / self.rate - time.monotonic(), 0))


@frozen(kw_only=True)
class Copy:
    """One table into another."""

    dynamodb: Any  # a boto3 client
    table: Table
    source: str
    target: str
    now: Millis
    pace: Pace
    is_dry_run: bool = False

    def check(self) -> None:
        """Errors: WrongTable if the two cannot be copied, and those of botocore if one does not exist."""
        if self.source == self.target:
            raise WrongTable(f"{self.source} is the table of the stack itself")
        for name in (self.source, self.target):
            schema = self.dynamodb.describe_table(TableName=name)["Table"]["KeySchema"]
            keys = tuple(one["AttributeName"] for one in sorted(schema, key=lambda one: one["KeyType"] != "HASH"))
            if keys != self.table.keys:
                raise WrongTable(f"{name} has the key {', '.join(keys)}, not {', '.join(self.table.keys)}")

    def run(self, pick: Callable[[Sequence[Item]], Sequence[Item]] = list, show: Progress = lambda _: None) -> Counted:
        """Copy all items that may go back. `pick` may leave more of them out. What became of how many items."""
        counted: Counted = Counter()
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for items in self.chunks():
                decided = [(item, self.table.decide(item, self.now)) for item in items]
                self._refuse([item for item, decision in decided if decision is Decision.WRONG])
                wanted = [item for item, decision in decided if decision is Decision.COPY]
                chosen = pick(wanted)
                counted[Decision.LEAVE] += len(items) - len(wanted)
                counted.update(threads.map(self._put, chosen))
                self.pace.after(len(items))
                show(counted)
        return +counted

    def chunks(self) -> Iterator[list[Item]]:
        """All items, as they stand now, some at a time."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=self.source, ConsistentRead=True)
        for page in pages:
            items = page["Items"]
            yield from (items[at : at + CHUNK] for at in range(0, len(items), CHUNK))

    def _refuse(self, wrong: Sequence[Item]) -> None:
        if wrong:
            raise WrongTable(f"{self.source} holds {dict(wrong[0])}, which is not of {self.table.what}")

    def _put(self, item: Item) -> str:
        """Only if nothing stands under its key: what stands is newer, or the same."""
        if self.is_dry_run:
            key = {name: item[name] for name in self.table.keys}
            stands = self.dynamodb.get_item(TableName=self.target, Key=key, ConsistentRead=True).get("Item")
            return THERE if stands else Decision.COPY
        marked = {**item, RESTORED: {"N": "1"}} if self.table.is_marked else item
        try:
            self.dynamodb.put_item(
                TableName=self.target,
                Item=marked,
                ConditionExpression="attribute_not_exists(#key)",
                ExpressionAttributeNames={"#key": self.table.keys[0]},
            )
        except ClientError as error:
            if error.response["Error"]["Code"] != "ConditionalCheckFailedException":
                raise
            return THERE
        return Decision.COPY
