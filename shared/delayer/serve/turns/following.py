"""The steps that follow from changes, each with a place of its own in the change feed (ADR 0188).

A step that fails with one change sets that one aside, and goes on with the next: nobody waits for it. It comes again,
later each time, and a day after its first failure it becomes a dead letter: an object `feed/<step>/<number>`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from attrs import define, field

from delayer.engines.ports import Clock, Objects, Observer
from delayer.engines.sqlite.again import Aside, SqliteAgain
from delayer.engines.sqlite.feed import FedChange, SqliteFeed
from delayer.engines.sqlite.store import encode
from delayer.schedule.instants import DAY, Millis, format_instant
from delayer.serve.turns.turn import BYTES
from delayer.wiring.pump import Batch, Source

GIVEN_UP_AFTER: Final[Millis] = DAY
NOT_DONE: Final = "it was not done"
DEAD: Final = "feed/"  # where their objects lie


def fitting(changes: Sequence[FedChange]) -> Sequence[FedChange]:
    """The first of them, as many as a part of a turn may write about; one in any case."""
    size = 0
    for at, one in enumerate(changes):
        size += one.text.size
        if at and size > BYTES:
            return changes[:at]
    return changes


@define(kw_only=True, eq=False)
class FeedSource(Source):
    """The changes of some tables, as the step takes them."""

    feed: SqliteFeed
    read: Callable[[FedChange], Any]  # None: it is not for this step
    again: SqliteAgain
    at_most: int = 100
    _number: int = field(default=0, init=False)  # of changes in the batch that was given out
    _alone_until: int = field(default=0, init=False)  # a batch up to there has raised: one change at a time

    def batches(self) -> Iterator[Batch]:
        cursor = self.feed.cursor(self.function)
        changes = fitting(self.feed.after(cursor, 1 if cursor < self._alone_until else self.at_most))
        self._number = len(changes)
        batch = self.batch_of(self, changes)
        if batch.items or batch.unread or (changes and self.feed.pass_by(self.function, changes[-1].number)):
            yield batch

    def batch_of(self, source: Source, changes: Sequence[FedChange], number: int = 0) -> Batch:
        """As the step takes them. What cannot be read is noted."""
        unread: dict[int, str] = {}
        items: list[Any] = []
        for one in changes:
            try:
                item = self.read(one)
            except Exception as error:  # noqa: BLE001 - one change harms itself alone
                unread[one.number] = type(error).__name__
            else:
                items += [] if item is None else [item]
        return Batch(source=source, items=items, shard=changes[-1].number if changes else number, unread=unread)

    def settle(self, batch: Batch, failed: Sequence[str] | None) -> None:
        """Sets aside what has failed."""
        self._settle(batch.shard, {**{int(one): NOT_DONE for one in failed or ()}, **batch.unread})

    def _settle(self, upto: int, failed: Mapping[int, str]) -> None:
        for number, why in failed.items():
            self.again.failed(self.function, number, why)
        self.feed.move(self.function, upto)

    def raised(self, batch: Batch, error: Exception) -> None:
        """Nobody knows which change it was: they are taken one by one. If it was one, that is set aside."""
        if self._number > 1:
            self._alone_until = batch.shard
            return
        self._settle(batch.shard, {batch.shard: type(error).__name__})

    def is_empty(self) -> bool:
        return not self.feed.after(self.feed.cursor(self.function), 1)


@define(kw_only=True, eq=False)
class AgainSource(Source):
    """The changes that the same step has set aside, one at a time."""

    of: FeedSource
    clock: Clock
    objects: Objects
    observer: Observer
    at_most: int = 10  # in one turn

    def batches(self) -> Iterator[Batch]:
        if (following := self.next_at()) is None or following > self.clock.now():
            return
        for one in self.of.again.due(self.function, self.at_most):
            change = self.of.feed.change(one.number)
            yield self.of.batch_of(self, [change] if change else [], one.number)

    def settle(self, batch: Batch, failed: Sequence[str] | None) -> None:
        """It is done, or comes again."""
        why = batch.unread.get(batch.shard) or (NOT_DONE if failed else "")
        if why:
            self._has_failed(batch.shard, why)
        else:
            self.of.again.done(self.function, batch.shard)

    def raised(self, batch: Batch, error: Exception) -> None:
        """As one that was not done."""
        self._has_failed(batch.shard, type(error).__name__)

    def next_at(self) -> Millis | None:
        return self.of.again.next_at(self.function)

    def is_empty(self) -> bool:
        return self.next_at() is None

    def _has_failed(self, number: int, why: str) -> None:
        aside = self.of.again.failed(self.function, number, why)
        if self.clock.now() - aside.since < GIVEN_UP_AFTER:
            return
        key = f"{DEAD}{self.function}/{number}"
        self.objects.put(key, self._letter(aside))
        self.of.again.done(self.function, number)
        self.observer.warn("a step is given up", key=key, why=why, tries=aside.tries)

    def _letter(self, aside: Aside) -> bytes:
        """Everything that there is to see."""
        change = self.of.feed.change(aside.number)
        letter: dict[str, Any] = {
            "step": self.function,
            "number": aside.number,
            "why": aside.why,
            "tries": aside.tries,
            "firstFailedAt": format_instant(aside.since),
            "givenUpAt": format_instant(self.clock.now()),
        }
        if change:
            images = {"old": change.change.old, "new": change.change.new}
            letter |= {"table": change.change.table, "changedAt": format_instant(change.at)}
            letter |= {name: msgspec.Raw(encode(item)) for name, item in images.items() if item is not None}
        return msgspec.json.encode(letter)
