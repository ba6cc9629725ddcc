"""The records of all lanes, each in the table that its id tells (ADR 0095), and the control rows."""

import base64
import re
from collections.abc import Collection, Sequence
from typing import Final

from attrs import frozen

from delayer.engines.ports import Unavailable
from delayer.engines.store.mapped import NOT_READ, NUMBER, Mapped, as_number, as_text, check_version, encoded
from delayer.engines.store.model import (
    All,
    Change,
    Condition,
    Delete,
    Has,
    Is,
    Item,
    Put,
    Query,
    Some,
    StoredItem,
    lacks,
    row_key,
)
from delayer.engines.store.store import Store, WriteRefused
from delayer.records.ports import RecordPage
from delayer.schedule.instants import SECOND, Malformed, Millis, UnknownVersion
from delayer.schedule.schedule import (
    FIELDS,
    NO_TRAITS,
    Schedule,
    check_json,
    from_texts,
    given,
    traits_from_text,
    traits_to_text,
)
from delayer.schedule.schedule_id import (
    FIRST_VERSION,
    Bucket,
    IdKey,
    IdKeys,
    Progress,
    RecordKey,
    Shards,
    id_in,
    in_lane,
    is_undecided,
    key_of,
)
from delayer.schedule.table_change import Heartbeat, Heartbeats, Row

SHARDS_ROW: Final = row_key("shards")
SWEEP_ROW: Final = row_key("sweep")
HEARTBEAT_ROW: Final = row_key("heartbeat")
ID_KEY_ROW: Final = row_key("id-key")

SHARDS: Final[Mapped[Shards]] = Mapped(Shards, "the shards", version=None, kept=("highest", "since"))
PROGRESS: Final[Mapped[Progress]] = Mapped(
    Progress, "the progress", version=None, kept=("closed_until", "swept_at", "whole_at")
)
SECRET: Final = encoded(lambda secret: base64.b64encode(secret).decode(), base64.b64decode)
ID_KEY: Final[Mapped[IdKey]] = Mapped(
    IdKey, "an id key", version=None, kept=("version", "secret", "created_at", "writes_from"), secret=SECRET
)
VERSION: Final = 1
HEARTBEAT: Final = "heartbeat"  # the bucket of the heartbeat rows
PAGE: Final = 500  # records; a bucket with more is big, and handed on
UNSENDABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # SQS would refuse it again and again


@frozen(kw_only=True)
class StoredControl:
    """Keeps control rows, each written forward only or over what is known."""

    store: Store
    table: str

    def shards(self) -> Shards | None:
        row = self.store.get(self.table, SHARDS_ROW)
        return SHARDS.row(row) if row else None

    def raise_shards(self, wanted: Shards) -> Shards:
        self._change(
            Change(
                self.table,
                SHARDS_ROW,
                put={"highest": wanted.highest},
                start={"since": wanted.since},
                when=Some((lacks("highest"), Is("highest", wanted.highest, "<"))),
            )
        )
        current = self.shards()
        if current is None:
            raise Unavailable("the control row of the shards is missing")
        return current

    def id_keys(self) -> IdKeys:
        row = self.store.get(self.table, ID_KEY_ROW)
        return keys_from(row) if row else IdKeys()

    def write_id_keys(self, keys: IdKeys, over: IdKeys) -> bool:
        try:
            self.store.write(Put(self.table, ID_KEY_ROW, keys_item(keys), _as_read(over)))
        except WriteRefused:
            return False
        return True

    def progress(self) -> Progress | None:
        row = self.store.get(self.table, SWEEP_ROW)
        return PROGRESS.row(row) if row else None

    def advance(self, progress: Progress) -> None:
        is_behind = Some((lacks("closedUntil"), Is("closedUntil", progress.closed_until, "<=")))
        self._change(Change(self.table, SWEEP_ROW, put=PROGRESS.item(progress), when=is_behind))

    def heartbeats(self) -> Heartbeats:
        row = self.store.get(self.table, HEARTBEAT_ROW) or {}
        # Older code notes `seenAt` alone: as soon as it is back, no lane is awaited that it does not know.
        reads_lanes = "seenAt" in row and row.get("readsLanes") == row["seenAt"]
        awaited = row.get("awaited", ()) if reads_lanes else ()
        return Heartbeats(
            seen=NUMBER.load(row["seenAt"]) if "seenAt" in row else None,
            awaited=tuple(_heartbeat(one) for one in sorted(awaited)),
            reads_lanes=reads_lanes,
        )

    def note_heartbeat(self, sent_at: Millis) -> None:
        is_later = Some((lacks("seenAt"), Is("seenAt", sent_at, "<")))
        self._change(Change(self.table, HEARTBEAT_ROW, put={"seenAt": sent_at, "readsLanes": sent_at}, when=is_later))

    def await_lanes(self, heartbeats: Collection[Heartbeat]) -> None:
        """A set: it is the same how often this is done, and others may change it at the same moment."""
        self._change(Change(self.table, HEARTBEAT_ROW, add={"awaited": frozenset(map(_awaited, heartbeats))}))

    def note_lanes(self, heartbeats: Collection[Heartbeat]) -> None:
        self._change(Change(self.table, HEARTBEAT_ROW, take={"awaited": frozenset(map(_awaited, heartbeats))}))

    def _change(self, change: Change) -> None:
        """A row that is ahead already stays as it is."""
        try:
            self.store.write(change)
        except WriteRefused:
            return


def _as_read(over: IdKeys) -> Condition:
    """A row of the first form has one key, and does not say so."""
    if not over.keys:
        return lacks("name")
    same = Is("newest", over.newest)
    return same if over.newest > FIRST_VERSION else Some((All((Has("name"), lacks("newest"))), same))


def _awaited(heartbeat: Heartbeat) -> str:
    """Sorted as they were sent."""
    return f"{heartbeat.sent_at:013d}#{heartbeat.lane}"


def _heartbeat(awaited: str) -> Heartbeat:
    sent_at, _, lane = awaited.partition("#")
    return Heartbeat(sent_at=int(sent_at), lane=lane)


def keys_item(keys: IdKeys) -> Item:
    """The row `id-key`. Code that knows one key only reads `key`: the first, as long as it is there."""
    first = keys.keys[0]
    stored = {**ID_KEY_ROW, "newest": keys.newest, "keys": [ID_KEY.item(key) for key in keys.keys]}
    return {**stored, "key": SECRET.store(first.secret)} if first.version == FIRST_VERSION else stored


def keys_from(row: StoredItem) -> IdKeys:
    """The inverse of keys_item, and of the first form, which has `key` only."""
    if "keys" in row:
        return IdKeys(keys=tuple(map(ID_KEY.row, row["keys"])))
    return IdKeys(keys=(IdKey(version=FIRST_VERSION, secret=SECRET.load(row["key"]), created_at=0, writes_from=0),))


@frozen(kw_only=True)
class StoredScheduleTable:
    """Keeps the records of one lane, in their buckets."""

    store: Store
    table: str
    page_size: int = PAGE

    def put(self, schedule: Schedule) -> None:
        self.store.write(put_record(self.table, schedule))

    def put_all(self, schedules: Sequence[Schedule]) -> list[Schedule]:
        by_key = {key_of(one.id): one for one in schedules}
        left = self.store.write_all([put_record(self.table, one) for one in schedules])
        return [by_key[_record_key(one.key)] for one in left]

    def delete(self, keys: Sequence[RecordKey]) -> list[RecordKey]:
        distinct = dict.fromkeys(keys)  # no key may come twice
        left = self.store.write_all([delete_record(self.table, key) for key in distinct])
        return [_record_key(one.key) for one in left]

    def page(self, bucket: Bucket, after: RecordKey | None = None) -> RecordPage:
        page = self.store.query(
            Query(
                self.table,
                {"bucket": bucket.key},
                sort="due",
                after=after.due if after else "",
                at_most=self.page_size,
                only=("bucket", "due"),
            )
        )
        more = RecordKey(bucket=bucket.key, due=page.more) if page.more else None
        return RecordPage(keys=tuple(map(_record_key, page.items)), more=more)

    def read(self, key: RecordKey) -> Schedule | None:
        item = self.store.get(self.table, key_item(key))
        row = None if item is None else from_item(item)
        return row if isinstance(row, Schedule) else None

    def read_all(self, keys: Sequence[RecordKey]) -> dict[RecordKey, Schedule]:
        items = self.store.get_many(self.table, [key_item(key) for key in dict.fromkeys(keys)])
        rows = {_record_key(item): from_item(item) for item in items}
        return {key: row for key, row in rows.items() if isinstance(row, Schedule)}

    def beat(self, heartbeat: Heartbeat) -> None:
        key = key_item(heartbeat_key(heartbeat))
        self.store.write(Put(self.table, key, {"expiresAt": heartbeat.sent_at // SECOND + 7 * 86_400}))
        self.store.write(Delete(self.table, key))


def key_item(key: RecordKey) -> dict[str, str]:
    """A key as the store takes it."""
    return {"bucket": key.bucket, "due": key.due}


def put_record(table: str, schedule: Schedule) -> Put:
    """The write that stores a record in the table of its lane."""
    return Put(table, key_item(key_of(schedule.id)), to_item(schedule))


def delete_record(table: str, key: RecordKey) -> Delete:
    """The write that deletes a record from the table of its lane."""
    return Delete(table, key_item(key))


def heartbeat_key(heartbeat: Heartbeat) -> RecordKey:
    """One with a lane has a partition of its own, wherever that may be."""
    due = f"{heartbeat.sent_at:013d}"
    return RecordKey(bucket=f"{HEARTBEAT}#{heartbeat.lane}#{due}" if heartbeat.lane else HEARTBEAT, due=due)


def lane_of(bucket: str) -> str:
    """Of the bucket of a heartbeat."""
    return bucket.split("#")[1] if "#" in bucket else ""


def is_heartbeat(bucket: str) -> bool:
    """Whether it is no bucket of a minute."""
    return bucket.partition("#")[0] == HEARTBEAT


def _record_key(item: StoredItem) -> RecordKey:
    return RecordKey(bucket=item["bucket"], due=item["due"])


def to_item(schedule: Schedule) -> Item:
    """A schedule as it is stored. Its id is in the sort key; what it does not have is left out.

    Only the payload is always there: a record that has lost it must not fire without it.
    """
    said = traits_to_text(schedule.traits)
    return {
        **key_item(key_of(schedule.id)),
        "v": VERSION,
        "owner": schedule.owner,
        "pointInTime": schedule.point_in_time,
        "createdAt": schedule.created_at,
        # No margin is counted from an id without a time.
        **({} if is_undecided(schedule.id) else {"expiresAt": schedule.expires_at // SECOND}),
        "payload": "",
        **({"traits": said} if said else {}),
        **given(schedule.definition),
    }


def from_item(item: StoredItem) -> Row:
    """A row of the table, whatever it holds."""
    try:
        if is_heartbeat(item["bucket"]):
            return Heartbeat(sent_at=int(as_text(item["due"])), lane=lane_of(item["bucket"]))
        _check_version(item)
        return _schedule(item)
    except UnknownVersion as error:
        return error
    except NOT_READ as error:
        return Malformed(f"a record that cannot be read: {type(error).__name__}: {error}")


def _check_version(item: StoredItem) -> None:
    """A value that is no number is no version, and waits for none."""
    _ = as_number(item["v"])
    check_version(item, VERSION)


def _schedule(item: StoredItem) -> Schedule:
    # A field of another type is no field that was left out.
    _ = item["payload"]
    defined = from_texts({one.wire_name: as_text(item[one.wire_name]) for one in FIELDS if one.wire_name in item})
    schedule = Schedule(
        id=as_text(item["due"]).partition("#")[2],
        owner=as_text(item["owner"]),
        point_in_time=as_number(item["pointInTime"]),
        created_at=as_number(item["createdAt"]),
        definition=defined,
        traits=traits_from_text(as_text(item["traits"])) if "traits" in item else NO_TRAITS,
    )
    for text in given(defined).values():
        if UNSENDABLE.search(text):
            raise ValueError("characters that no JSON, or no SQS message, may hold")
    check_json(defined)
    _ = defined.action_type
    if key_of(schedule.id).bucket != item["bucket"]:
        raise ValueError("its id holds another address than the one it is stored at")
    return schedule


@frozen(kw_only=True)
class StoredRecords:
    """Keeps each record in the table of its lane."""

    store: Store
    schedules_table: str
    relaxed_table: str
    waiting_table: str

    def put(self, schedule: Schedule) -> None:
        self._table_of(schedule.id).put(schedule)

    def put_all(self, schedules: Sequence[Schedule]) -> list[Schedule]:
        by_key = {key_of(one.id): one for one in schedules}
        tables = self._by_table(list(by_key))
        return [left for table, keys in tables for left in table.put_all([by_key[key] for key in keys])]

    def delete(self, keys: Sequence[RecordKey]) -> list[RecordKey]:
        return [left for table, some in self._by_table(keys) for left in table.delete(some)]

    def read(self, key: RecordKey) -> Schedule | None:
        return self._table_of(id_in(key)).read(key)

    def read_all(self, keys: Sequence[RecordKey]) -> dict[RecordKey, Schedule]:
        found: dict[RecordKey, Schedule] = {}
        for table, some in self._by_table(keys):
            found |= table.read_all(some)
        return found

    def _by_table(self, keys: Sequence[RecordKey]) -> list[tuple[StoredScheduleTable, list[RecordKey]]]:
        """Most calls are about one table, and cost one request."""
        tables: dict[StoredScheduleTable, list[RecordKey]] = {}
        for key in keys:
            tables.setdefault(self._table_of(id_in(key)), []).append(key)
        return list(tables.items())

    def _table_of(self, schedule_id: str) -> StoredScheduleTable:
        table = in_lane(
            schedule_id, precise=self.schedules_table, relaxed=self.relaxed_table, waiting=self.waiting_table
        )
        return StoredScheduleTable(store=self.store, table=table)
