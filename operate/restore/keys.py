"""The keys behind ids and signatures: those of a new stack give way to those of the copy, if nobody knows them yet."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from attrs import field, frozen

from delayer.lambdas.table_stream import RESTORED
from delayer.schedule.instants import SECOND
from delayer.schedule.schedule import SYSTEM_OWNER
from delayer.schedule.schedule_id import READ_AGAIN
from operate.restore.copying import WrongTable
from operate.restore.tables import KEYS, Item

WITH_OWNERS: Final = ("LedgerTable", "SchedulesTable", "RelaxedTable", "WaitingTable")
KNOWN_FOR: Final = READ_AGAIN // SECOND  # seconds that an execution environment goes on with keys that it has read


@frozen(kw_only=True)
class Keys:
    """Of a stack, and of the control table that is copied. A new stack has keys as soon as it is created (ADR 0160)."""

    dynamodb: Any
    stack: str
    outputs: Mapping[str, str]
    source: str
    mine: Mapping[str, Item] = field(init=False)
    theirs: Mapping[str, Item] = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "mine", self.rows(self.outputs["ControlTable"]))
        object.__setattr__(self, "theirs", self.rows(self.source))

    def rows(self, table: str) -> dict[str, Item]:
        """Of a control table, by their names."""
        return {item["name"]["S"]: item for item in self._items(table)}

    @property
    def replaced(self) -> list[str]:
        """The rows of the stack that are others than those of the copy."""
        names = sorted(name for name in self.theirs if name.startswith(KEYS))
        return [name for name in names if name in self.mine and self.mine[name] != self.theirs[name]]

    def check(self) -> None:
        """Raises WrongTable if a client may hold an id, or a target a signature, that its own keys have made.

        The ids of both would have to be genuine under one version of a key. Canaries have ids, too: nobody asks for
        them.
        """
        if not self.replaced:
            return
        for output in WITH_OWNERS:
            for item in self._items(self.outputs[output]) if output in self.outputs else ():
                if RESTORED not in item and item.get("owner", {}).get("S", SYSTEM_OWNER) != SYSTEM_OWNER:
                    raise WrongTable(
                        f"the stack {self.stack} has schedules of its own, and their ids are made with its own key; "
                        "restore into a stack whose API was never called"
                    )

    def replace(self) -> None:
        """While nothing runs. Whatever has read a key before reads it again when it is KNOWN_FOR old."""
        for name in self.replaced:
            self.dynamodb.put_item(TableName=self.outputs["ControlTable"], Item=self.theirs[name])

    def _items(self, table: str) -> Iterator[Item]:
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
        return (item for page in pages for item in page["Items"])
