"""The registry."""

from bisect import bisect_left, bisect_right, insort
from typing import Final, Protocol

from attrs import Factory, define

from delayer.core.jobs.job import JobRow
from delayer.core.ledger.row import LedgerChange
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import address_of
from delayer.fakes.connections.connections import MemoryConnections
from delayer.fakes.tables.ledger import MemoryLedger
from delayer.ports.registry import Member, Members, NameRow, RequestRow, ScheduleTransaction
from delayer.ports.schedule_table import DeletesSchedules, PutsSchedules


class WritesSchedules(PutsSchedules, DeletesSchedules, Protocol):
    """The schedules table, or the tables of all lanes."""


class InDueOrder(dict[str, Member]):
    """The members of a list, which is read page by page: it stays quick however long it is."""

    def __init__(self) -> None:
        super().__init__()
        self._places: list[tuple[Millis, str]] = []

    def __setitem__(self, schedule_id: str, member: Member) -> None:
        if schedule_id not in self:
            insort(self._places, _place(schedule_id))
        super().__setitem__(schedule_id, member)

    def leave(self, schedule_id: str) -> None:
        """It is no member any more, if it was one."""
        if super().pop(schedule_id, None):
            del self._places[bisect_left(self._places, _place(schedule_id))]

    def page(self, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        """Some of those that are due within a time, behind the one named by `after`."""
        first = bisect_left(self._places, (since, ""))
        if after:
            first = max(first, bisect_right(self._places, _place(after)))
        end = bisect_left(self._places, (until, ""))
        found = [schedule_id for _, schedule_id in self._places[first : min(end, first + at_most)]]
        return Members(
            members=tuple(self[one] for one in found), more=found[-1] if found and end > first + at_most else ""
        )


def _place(schedule_id: str) -> tuple[Millis, str]:
    return address_of(schedule_id).due, schedule_id


NOBODY: Final = InDueOrder()


@define(kw_only=True)
class MemoryRegistry:
    """Port Registry."""

    schedules: WritesSchedules
    ledger: MemoryLedger
    names: dict[tuple[str, str], NameRow] = Factory(dict)
    requests: dict[tuple[str, str], RequestRow] = Factory(dict)
    groups: dict[tuple[str, str], InDueOrder] = Factory(dict)
    connections: MemoryConnections = Factory(MemoryConnections)

    def named(self, owner: str, name: str) -> NameRow | None:
        return self.names.get((owner, name))

    def requested(self, owner: str, key: str) -> RequestRow | None:
        return self.requests.get((owner, key))

    def members(self, owner: str, group: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        return self.groups.get((owner, group), NOBODY).page(since, until, after, at_most)

    def create(self, transaction: ScheduleTransaction) -> bool:
        if transaction.delete or transaction.end:
            raise ValueError("a schedule that takes the place of another is written by `replace`")
        return self.replace(transaction)

    def decide(self, transaction: ScheduleTransaction) -> bool:
        if not self.replace(transaction):
            return False
        new, old = transaction.put, transaction.end.row.schedule_id if transaction.end else ""
        members = self.groups.get((new.owner, new.definition.group), NOBODY)
        if old and new.id in members:
            members.leave(old)
            members[new.id] = Member(schedule_id=new.id, created_at=address_of(old).due)
        if old and transaction.connection:
            self.connections.leave(new.owner, transaction.connection, old)
        return True

    def replace(self, transaction: ScheduleTransaction) -> bool:
        if self._is_done(transaction):
            return True
        if not self._may(transaction):
            return False
        if transaction.connection:
            self.connections.check(transaction.put.owner, transaction.connection)
            self.connections.join(transaction.put.owner, transaction.connection, transaction.put.id)
        self._write(transaction)
        return True

    def _is_done(self, transaction: ScheduleTransaction) -> bool:
        """A repeat finds its own rows. One of them is enough: they were written together."""
        if any(self.ledger.rows.get(one.row.schedule_id) == one.row for one in _changes(transaction)):
            return True
        request, name = transaction.put_request, transaction.put_name
        if request and self.requests.get((request.owner, request.key)) == request:
            return True
        return name is not None and self.names.get((name.owner, name.name)) == name

    def _may(self, transaction: ScheduleTransaction) -> bool:
        request, name = transaction.put_request, transaction.put_name
        if not all(self.ledger.allows(change) for change in _changes(transaction)):
            return False
        if request and self.requests.get((request.owner, request.key)) != transaction.over_request:
            return False
        return not name or self.names.get((name.owner, name.name)) == transaction.over_name

    def _write(self, transaction: ScheduleTransaction) -> None:
        for change in _changes(transaction):
            self.ledger.store(change.row)
        if transaction.put_name:
            self.names[transaction.put_name.owner, transaction.put_name.name] = transaction.put_name
        if transaction.put_request:
            self.requests[transaction.put_request.owner, transaction.put_request.key] = transaction.put_request
        if transaction.delete:
            self.schedules.delete([transaction.delete])
        self._join(transaction.put)
        self.schedules.put(transaction.put)

    def _join(self, schedule: Schedule) -> None:
        if group := schedule.definition.group:
            members = self.groups.setdefault((schedule.owner, group), InDueOrder())
            members[schedule.id] = Member(schedule_id=schedule.id, created_at=schedule.created_at)


def _changes(transaction: ScheduleTransaction) -> list[LedgerChange]:
    first = [LedgerChange(row=transaction.put_row)] if transaction.put_row else []
    return first + ([transaction.end] if transaction.end else [])


@define
class MemoryJobs:
    """Port Jobs."""

    rows: dict[tuple[str, str], JobRow] = Factory(dict)
    latest_ids: dict[tuple[str, str], str] = Factory(dict)

    def read(self, owner: str, job_id: str) -> JobRow | None:
        return self.rows.get((owner, job_id))

    def latest(self, owner: str, group: str) -> str:
        return self.latest_ids.get((owner, group), "")

    def start(self, row: JobRow, over: str) -> bool:
        current = self.latest(row.owner, row.group)
        if current == row.job_id:
            return True
        if current != over:
            return False
        self.latest_ids[row.owner, row.group] = row.job_id
        self.rows[row.owner, row.job_id] = row
        return True

    def swap(self, old: JobRow, new: JobRow) -> bool:
        current = self.rows.get((old.owner, old.job_id))
        if current == new:
            return True
        if current is None or current.revision != old.revision:
            return False
        self.rows[new.owner, new.job_id] = new
        return True
