"""The registry."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol

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


@define(kw_only=True)
class MemoryRegistry:
    """Port Registry."""

    schedules: WritesSchedules
    ledger: MemoryLedger
    names: dict[tuple[str, str], NameRow] = Factory(dict)
    requests: dict[tuple[str, str], RequestRow] = Factory(dict)
    groups: dict[tuple[str, str], dict[str, Member]] = Factory(dict)
    connections: MemoryConnections = Factory(MemoryConnections)

    def named(self, owner: str, name: str) -> NameRow | None:
        return self.names.get((owner, name))

    def requested(self, owner: str, key: str) -> RequestRow | None:
        return self.requests.get((owner, key))

    def members(self, owner: str, group: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        return page_of(self.groups.get((owner, group), {}), since, until, after, at_most)

    def create(self, transaction: ScheduleTransaction) -> bool:
        if transaction.delete or transaction.end:
            raise ValueError("a schedule that takes the place of another is written by `replace`")
        return self.replace(transaction)

    def decide(self, transaction: ScheduleTransaction) -> bool:
        if not self.replace(transaction):
            return False
        new, old = transaction.put, transaction.end.row.schedule_id if transaction.end else ""
        members = self.groups.get((new.owner, new.definition.group), {})
        if old and new.id in members:
            members.pop(old, None)
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
            members = self.groups.setdefault((schedule.owner, group), {})
            members[schedule.id] = Member(schedule_id=schedule.id, created_at=schedule.created_at)


def _changes(transaction: ScheduleTransaction) -> list[LedgerChange]:
    first = [LedgerChange(row=transaction.put_row)] if transaction.put_row else []
    return first + ([transaction.end] if transaction.end else [])


def page_of(members: Mapping[str, Member], since: Millis, until: Millis, after: str, at_most: int) -> Members:
    """A page of a list in due order."""
    first = _place(after) if after else (since, "")
    rest = [one for one in sorted(members, key=_place) if first < _place(one) and since <= _place(one)[0] < until]
    page = tuple(members[schedule_id] for schedule_id in rest[:at_most])
    return Members(members=page, more=rest[at_most - 1] if len(rest) > at_most else "")


@lru_cache(maxsize=100_000)
def _place(schedule_id: str) -> tuple[Millis, str]:
    return address_of(schedule_id).due, schedule_id


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
