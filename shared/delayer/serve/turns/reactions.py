"""Starts the functions here: from the change feed, the queues and the minutes, by the manifest (ADR 0175, 0185)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from attrs import field, frozen

from delayer.engines.filter_policy import FilterPolicy, lets_through
from delayer.engines.ports import Announcement, Outgoing, ReceivedMessage, nobody_asks
from delayer.engines.sqlite.feed import FedChange
from delayer.engines.sqlite.queue import SqliteQueue
from delayer.engines.store.model import kind_of
from delayer.history.model import LifecycleRecord, of_record, of_row
from delayer.ledger import repository as ledger
from delayer.records.repository import from_item
from delayer.schedule.schedule import Schedule
from delayer.schedule.table_change import ChangeKind, RecordChange
from delayer.schedule.tables import LEDGER, OCCURRENCES, SCHEDULES, WAITING

FEEDS: Final = (SCHEDULES, WAITING, LEDGER)  # the tables whose changes are read
OF_A_KIND: Final = f'"{ledger.KIND}"'.encode()  # in the text of a row that may be of an occurrence
# The functions that do not run here, and why.
ABSENT: Final[Mapping[str, str]] = {
    "stream-enqueuer": "a record stays in its table until it is due: no queue has a longest delay to wait for",
    "task-1minute-enqueuer": "what is due is the first page of the table, which each turn looks at",
    "sweep-bucket-enqueuer": "no bucket is handed on: one thread fires all of them in the order of time",
    "relaxed-claimer": "what is relaxed is in the same table as all else, and is fired with it",
    "suspects-dispatcher": "what kills the process is found by the number of its life",
    "executor-remote": "there are no functions of other stacks",
    "executor-canary": "nothing here needs a canary: the engine itself knows how late it is",
    "deploy-action-registrar": "what is in the folder of actions is registered when the engine starts",
    "subscriber-failed-webhook": "--events posts all events; who wants it gives a copy of its folder with --actions",
}


def record_change(one: FedChange, tables: Collection[str]) -> RecordChange | None:
    """A change of a record, as the reader of a stream takes it."""
    if one.text.table not in tables:
        return None
    kind = kind_of(one.change)
    image = (one.change.old if kind is ChangeKind.REMOVE else one.change.new) or {}
    number = str(one.number)
    return RecordChange(
        kind=kind,
        sequence=number,
        read=lambda: from_item(image),
        record={"number": number},
        at=one.at,
        event=number,
        expired=one.change.is_expired,
    )


def lifecycle_record(one: FedChange, tables: Collection[str], of_occurrences: bool | None) -> LifecycleRecord | None:
    """A change as the readers that announce see it: what happened to a schedule."""
    if one.text.table not in tables:
        return None
    number = str(one.number)
    if one.text.table == LEDGER:
        if one.text.new is None or (of_occurrences and OF_A_KIND not in one.text.new):
            return None
        change = one.change
        assert change.new is not None
        if of_occurrences is not None and (change.new.get(ledger.KIND) in OCCURRENCES) != of_occurrences:
            return None
        old = ledger.from_item(change.old) if change.old else None
        return LifecycleRecord(sequence=number, event=of_row(old, ledger.from_item(change.new), number))
    record = record_change(one, tables)
    assert record
    if not isinstance(record.row, Schedule):
        return None
    lane = "" if one.text.table == SCHEDULES else f"{one.text.table}-"
    event = of_record(record.kind, record.row, f"{lane}{number}", record.at, expired=record.expired)
    return LifecycleRecord(sequence=number, event=event)


@frozen(kw_only=True)
class Subscription:
    """A subscriber that is given its events when they are published."""

    use: Callable[[Sequence[ReceivedMessage]], Sequence[str]]
    gets: FilterPolicy


@frozen(kw_only=True)
class Published:
    """Port Topic. Some are told at once, with the commit of what they are told of; others from their queue."""

    at_once: Sequence[Subscription]
    queues: Sequence[tuple[SqliteQueue, FilterPolicy]] = field(factory=list)

    def publish(self, announcements: Sequence[Announcement], refused: Callable[[int], None] = nobody_asks) -> list[int]:  # noqa: ARG002 - nothing is too large here
        """Returns the positions of those that not all could be told."""
        attributes = [dict(one.attributes) for one in announcements]
        left: set[int] = set()
        for one in self.at_once:
            batch = [
                ReceivedMessage(message_id=str(at), body=announced.text)
                for at, announced in enumerate(announcements)
                if lets_through(one.gets, attributes[at])
            ]
            left.update(int(key) for key in (one.use(batch) if batch else ()))
        for queue, gets in self.queues:
            for_later = [
                Outgoing(body=one.text) for at, one in enumerate(announcements) if lets_through(gets, attributes[at])
            ]
            if for_later:
                queue.send(for_later)
        return sorted(left)
