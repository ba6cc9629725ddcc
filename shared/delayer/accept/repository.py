"""The registry: names, groups and idempotency keys, and the transactions that keep them true (ADR 0048).

One table, `list` and `entry`. A list is `name#<owner>#<name>`, `group#<owner>#<group>` or `request#<owner>#<digest of
the key>`; jobs and rate limits have lists of their own. No name and no group holds a `#`: no two owners share a list.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.accept.ports import NameRow, RequestRow, ScheduleTransaction
from delayer.connections.repository import gate_check, is_closed, schedule_use, schedule_use_key
from delayer.engines.ports import Unavailable
from delayer.engines.store.mapped import SECONDS, Mapped
from delayer.engines.store.model import All, Condition, Delete, Is, Item, Put, StoredItem, Write, entry_key, lacks
from delayer.engines.store.store import Store, WriteRefused
from delayer.history.ports import Members
from delayer.history.repository import entry_of, members_in, page_query
from delayer.history.repository import member_item as member_of_list
from delayer.ledger.model import LedgerChange
from delayer.ledger.repository import put_change
from delayer.records.repository import delete_record, put_record
from delayer.schedule.instants import DAY, ROW_LIFETIME, SECOND, UNDECIDED_KEPT, Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import address_of, id_in, in_lane, is_undecided

NAME_LIFETIME: Final[Millis] = 400 * DAY  # after due: longer than any row of its holder, which may be redriven
NAME: Final[Mapped[NameRow]] = Mapped(NameRow, "a name", without=("owner", "name"), kept=("schedule_id",))
REQUEST: Final[Mapped[RequestRow]] = Mapped(
    RequestRow,
    "an idempotency key",
    without=("owner", "key"),
    kept=("digest", "schedule_id", "point_in_time", "expires_at"),
    expires_at=SECONDS,
)


@frozen(kw_only=True)
class StoredRegistry:
    """Keeps names, groups and idempotency keys in the registry."""

    store: Store
    schedules_table: str
    relaxed_table: str
    waiting_table: str
    ledger_table: str
    registry_table: str

    def named(self, owner: str, name: str) -> NameRow | None:
        item = self.store.get(self.registry_table, entry_key(name_list(owner, name)))
        return name_from(owner, name, item) if item else None

    def requested(self, owner: str, key: str) -> RequestRow | None:
        item = self.store.get(self.registry_table, entry_key(request_list(owner, key)))
        return request_from(owner, key, item) if item else None

    def members(self, owner: str, group: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        entries = group_list(owner, group)
        query = page_query(self.registry_table, entries, since, until, after, at_most, latest=True)
        return members_in(self.store.query(query))

    def create(self, transaction: ScheduleTransaction) -> bool:
        if transaction.delete or transaction.end:
            raise ValueError("a schedule that takes the place of another is written by `replace`")
        return self.replace(transaction)

    def replace(self, transaction: ScheduleTransaction) -> bool:
        return self._transact(self._writes(transaction))

    def decide(self, transaction: ScheduleTransaction) -> bool:
        return self._transact(self._writes(transaction, leaving=transaction.end))

    def _transact(self, writes: Sequence[Write]) -> bool:
        try:
            self.store.transact(writes)
        except WriteRefused as refused:
            # Our own item says that an earlier try went through and its answer was lost: each item holds the id of the
            # new schedule, and all were written together.
            met = zip(writes, refused.items, strict=False)
            if any(isinstance(write, Put) and write.item == item for write, item in met):
                return True
            if is_closed(writes, refused):
                raise Unavailable("its connection was closed meanwhile") from refused
            return False
        return True

    def _writes(self, transaction: ScheduleTransaction, leaving: LedgerChange | None = None) -> list[Write]:
        """`leaving`: the end of the one whose place in the group the new one takes."""
        put, old = transaction.put, leaving.row.schedule_id if leaving else ""
        writes: list[Write] = [put_record(self._table_of(put.id), put)]
        if transaction.delete:
            writes.append(delete_record(self._table_of(id_in(transaction.delete)), transaction.delete))
        if transaction.put_row:
            writes.append(put_change(self.ledger_table, LedgerChange(row=transaction.put_row)))
        if transaction.end:
            writes.append(put_change(self.ledger_table, transaction.end))
        if transaction.put_name:
            writes.append(name_write(self.registry_table, transaction.put_name, transaction.over_name))
        if transaction.put_request:
            writes.append(request_write(self.registry_table, transaction.put_request, transaction.over_request))
        writes += self._place_in_group(put, old)
        return [*writes, *self._use_of_connection(put, transaction.connection, old)]

    def _place_in_group(self, put: Schedule, old: str) -> list[Write]:
        if not put.definition.group:
            return []
        joined = address_of(old).due if old else put.created_at
        writes: list[Write] = [put_whole(self.registry_table, member_item(put, joined))]
        if old:
            entry = entry_key(group_list(put.owner, put.definition.group), entry_of(old))
            writes.append(Delete(self.registry_table, entry))
        return writes

    def _use_of_connection(self, put: Schedule, connection: str, old: str) -> list[Write]:
        if not connection:
            return []
        writes: list[Write] = [
            gate_check(self.registry_table, put.owner, connection, put.id),
            put_whole(self.registry_table, schedule_use(put, connection)),
        ]
        if old:
            writes.append(Delete(self.registry_table, schedule_use_key(put.owner, connection, old)))
        return writes

    def _table_of(self, schedule_id: str) -> str:
        return in_lane(
            schedule_id, precise=self.schedules_table, relaxed=self.relaxed_table, waiting=self.waiting_table
        )


def put_whole(table: str, item: Item, when: Condition | None = None) -> Put:
    """The write of an item of a list, with its key."""
    return Put(table, entry_key(item["list"], item["entry"]), item, when)


def name_write(table: str, row: NameRow, over: NameRow | None) -> Put:
    """In place of the one that holds the name, if one does."""
    when = Is("scheduleId", over.schedule_id) if over else lacks("scheduleId")
    return put_whole(table, name_item(row), when)


def request_write(table: str, row: RequestRow, over: RequestRow | None) -> Put:
    """In place of one that has expired, if there is one: no other has the same id and the same instant."""
    if over is None:
        return put_whole(table, request_item(row), lacks("digest"))
    same = All((Is("scheduleId", over.schedule_id), Is("expiresAt", over.expires_at // SECOND)))
    return put_whole(table, request_item(row), same)


def name_list(owner: str, name: str) -> str:
    """The list of one name."""
    return f"name#{owner}#{name}"


def request_list(owner: str, key: str) -> str:
    """The list of one idempotency key, which may hold any character."""
    return f"request#{owner}#{hashlib.sha256(key.encode()).hexdigest()}"


def group_list(owner: str, group: str) -> str:
    """The list of a group."""
    return f"group#{owner}#{group}"


def name_item(row: NameRow) -> Item:
    """A name as it is stored, for longer than any row of its holder."""
    expires = address_of(row.schedule_id).due + NAME_LIFETIME
    return {**entry_key(name_list(row.owner, row.name)), **NAME.item(row), "expiresAt": expires // SECOND}


def request_item(row: RequestRow) -> Item:
    """An idempotency key as it is stored."""
    return {**entry_key(request_list(row.owner, row.key)), **REQUEST.item(row)}


def member_item(schedule: Schedule, joined: Millis) -> Item:
    """A member of a group as it is stored, for as long as its ledger row may be."""
    entries = group_list(schedule.owner, schedule.definition.group)
    lifetime = UNDECIDED_KEPT if is_undecided(schedule.id) else ROW_LIFETIME
    return member_of_list(entries, schedule.id, joined, schedule.address.due + lifetime)


def name_from(owner: str, name: str, item: StoredItem) -> NameRow:
    """The inverse of name_item. A row that this code cannot read names nothing: Unavailable."""
    return NAME.row(item, owner=owner, name=name)


def request_from(owner: str, key: str, item: StoredItem) -> RequestRow:
    """The inverse of request_item. A row that this code cannot read says nothing: Unavailable."""
    return REQUEST.row(item, owner=owner, key=key)
