"""The order of a restore: check everything, pause, copy, let go on."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from attrs import define, field

from bench.command.progress import progress_bar
from delayer.engines.process import SystemClock
from local.command.progress import console, step
from operate.restore.copying import Copy, Pace, WrongTable
from operate.restore.counting import Connections
from operate.restore.doubtful import Schedules, schedules_of
from operate.restore.keys import KNOWN_FOR, Keys
from operate.restore.options import Options
from operate.restore.pausing import Pause
from operate.restore.tables import (
    NET_OF_SERIES,
    OF_SCHEDULES,
    TABLES,
    Item,
    Table,
    merged_policies,
    merged_shards,
    merged_sweep,
)

NEEDS_EVERYTHING: Final = ("control", "ledger")  # while these are copied, no function may write
SHOWN: Final = 20  # ids


@define(kw_only=True)
class Restore:
    """One run. Errors: WrongTable, NotPaused, and those of botocore; then the stack stays paused."""

    options: Options
    client: Callable[[str], Any]  # a boto3 client by its service's name
    sleep: Callable[[float], None] = time.sleep
    outputs: dict[str, str] = field(init=False)
    pause: Pause = field(init=False)
    counted: dict[str, Counter[str]] = field(factory=dict)
    claimed: list[str] = field(factory=list)  # ids whose row shows a claim and no end
    now: Callable[[], float] = time.time
    replaced_at: float | None = None  # in seconds since 1970: the stack's own keys have given way

    def __attrs_post_init__(self) -> None:
        [stack] = self.client("cloudformation").describe_stacks(StackName=self.options.stack)["Stacks"]
        self.outputs = {one["OutputKey"]: one["OutputValue"] for one in stack.get("Outputs", [])}
        self.pause = Pause(
            client=self.client,
            stack=self.options.stack,
            control_table=self.outputs["ControlTable"],
            sleep=self.sleep,
        )

    def run(self) -> None:
        """As the options say."""
        match self.options.only:
            case "resume":
                self._resume()
            case "pause":
                self._pause(everything=True)
            case _:
                self._copy_all()

    def _copy_all(self) -> None:
        copies = self._copies()
        for copy in copies.values():
            copy.check()
        if keys := self._keys():
            keys.check()
        if not self.options.is_dry_run:
            self._pause(everything=any(kind in self.options.sources for kind in NEEDS_EVERYTHING))
            self._replace_keys()
        for kind, copy in copies.items():
            self._copy(kind, copy)
        self._rest()
        if not (self.options.is_dry_run or self.options.stays_paused):
            self._resume()

    def _resume(self) -> None:
        with step("Letting the stack go on"):
            self.pause.resume()

    def _copies(self) -> dict[str, Copy]:
        """In the order of the table of tables."""
        pace, now = Pace(rate=self.options.rate, sleep=self.sleep), SystemClock().now()
        return {
            kind: Copy(
                dynamodb=self.client("dynamodb"),
                table=table,
                source=self.options.sources[kind],
                target=self._target(table),
                now=now,
                pace=pace,
                is_dry_run=self.options.is_dry_run,
            )
            for kind, table in TABLES.items()
            if kind in self.options.sources
        }

    def _target(self, table: Table) -> str:
        """The name of its table. Raises WrongTable if the stack has no such lane (ADR 0172)."""
        if table.output not in self.outputs:
            raise WrongTable(
                f"the stack {self.options.stack} has no {table.output}: deploy it with the lanes and the policies of "
                'the stack whose tables are restored, such as make deploy PARAMETERS="Lanes=relaxed Policies=spread"'
            )
        return self.outputs[table.output]

    def _pause(self, everything: bool) -> None:
        with step("Pausing the stack" if everything else "Pausing the minute task"):
            longest = self.pause.pause(everything)
        seconds = longest if self.options.wait is None else min(self.options.wait, longest)
        if seconds:
            with step(f"Waiting up to {seconds} s for what has begun"):
                self.sleep(seconds)

    def _copy(self, kind: str, copy: Copy) -> None:
        schedules = self._schedules() if kind in OF_SCHEDULES else None
        with progress_bar(f"Copying {copy.table.what}", self._items(copy.source)) as advance:
            connections = Connections(dynamodb=copy.dynamodb, table=copy.target)
            pick = connections.pick if kind == "registry" else self._noting(kind)
            counted = copy.run(schedules.pick if schedules else pick, lambda so_far: advance(sum(so_far.values())))
        if kind == "control" and not self.options.is_dry_run:
            self._merge_control(copy)
        if kind == "registry" and not self.options.is_dry_run:
            self._look_at_all_series()
            connections.count()
        self.counted[kind] = counted + (schedules.counted if schedules else Counter())

    def _items(self, table: str) -> int:
        """About how many; DynamoDB counts them every six hours."""
        count: int = self.client("dynamodb").describe_table(TableName=table)["Table"].get("ItemCount", 0)
        return count

    def _schedules(self) -> Schedules:
        return schedules_of(self.client, self.outputs, self.options.lost_at, self.options.is_dry_run)

    def _noting(self, kind: str) -> Callable[[Sequence[Item]], Sequence[Item]]:
        """Of the ledger, what was claimed and has no end is noted: its message may be lost."""

        def pick(items: Sequence[Item]) -> Sequence[Item]:
            if kind == "ledger":
                self.claimed += [one["scheduleId"]["S"] for one in items if one["state"] == {"S": "claimed"}]
            return items

        return pick

    def _keys(self) -> Keys | None:
        """If they are copied."""
        source = self.options.sources.get("control")
        if source is None:
            return None
        return Keys(dynamodb=self.client("dynamodb"), stack=self.options.stack, outputs=self.outputs, source=source)

    def _replace_keys(self) -> None:
        """Calls that began since the first look have ended now: so it looks once more."""
        keys = self._keys()
        if keys and keys.replaced:
            keys.check()
            keys.replace()
            self.replaced_at = self.now()

    def _rest(self) -> None:
        """Until no function works on with keys that were replaced: it would make ids that the stack does not know."""
        if self.replaced_at is not None:
            left = max(self.replaced_at + KNOWN_FOR - self.now(), 0)
            seconds = left if self.options.wait is None else min(self.options.wait, left)
            with step(f"Waiting up to {seconds:.0f} s until no function has the keys that were replaced"):
                self.sleep(seconds)

    def _control_rows(self, table: str) -> dict[str, Item]:
        pages = self.client("dynamodb").get_paginator("scan").paginate(TableName=table, ConsistentRead=True)
        return {item["name"]["S"]: item for page in pages for item in page["Items"]}

    def _merge_control(self, copy: Copy) -> None:
        mine, theirs = self._control_rows(copy.target), self._control_rows(copy.source)
        put: Mapping[str, Callable[[Item], Item]] = {
            "shards": lambda restored: merged_shards(mine.get("shards"), restored),
            "sweep": lambda restored: merged_sweep(mine.get("sweep"), int(restored["closedUntil"]["N"])),
        }
        for name, merged in put.items():
            if name in theirs:
                copy.dynamodb.put_item(TableName=copy.target, Item=merged(theirs[name]))
        for row in merged_policies(mine, theirs):
            copy.dynamodb.put_item(TableName=copy.target, Item=row)

    def _look_at_all_series(self) -> None:
        """A series that was filed in minutes that the net has passed may be current again, by an older tz database,
        too.
        """
        for name in NET_OF_SERIES:
            self.client("dynamodb").delete_item(TableName=self.outputs["ControlTable"], Key={"name": {"S": name}})

    def show(self) -> None:
        """Print what became of how many items."""
        for kind, counted in self.counted.items():
            parts = [f"{number} {what}" for what, number in counted.items()]
            console.print(f"  {kind}: {', '.join(parts) or 'empty'}", soft_wrap=True)
        if self.claimed:
            shown = "\n    ".join(self.claimed[:SHOWN])
            console.print(
                f"  {len(self.claimed)} schedules are claimed and have no end. If the queues are lost, too, nothing "
                f"brings them further; look at them:\n    {shown}",
                markup=False,
                soft_wrap=True,
            )
        if self.options.is_dry_run:
            console.print("Nothing was written.")
        elif self.options.stays_paused or self.options.only == "pause":
            console.print("The stack is paused. --resume lets it go on.")
