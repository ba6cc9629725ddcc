"""The schedules table."""

import re
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.core.schedule.bucket import Bucket, RecordKey
from delayer.core.schedule.definition import FIELDS, check_json, from_texts, given
from delayer.core.schedule.instants import SECOND
from delayer.core.schedule.malformed import Malformed, UnknownVersion
from delayer.core.schedule.schedule import NO_TRAITS, Schedule, traits_from_text, traits_to_text
from delayer.core.schedule.schedule_id import is_undecided, key_of
from delayer.core.schedule.table_change import Heartbeat, Row
from delayer.ports.schedule_table import Page
from delayer.store.items import Item, StoredItem
from delayer.store.mapped import NOT_READ, as_number, as_text, check_version
from delayer.store.queries import Query
from delayer.store.store import Store
from delayer.store.writes import Delete, Put

VERSION: Final = 1
HEARTBEAT: Final = "heartbeat"  # the bucket of the heartbeat rows
PAGE: Final = 500  # records; a bucket with more is big, and handed on
UNSENDABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # SQS would refuse it again and again


@frozen(kw_only=True)
class StoredScheduleTable:
    """Port ScheduleTable."""

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

    def page(self, bucket: Bucket, after: RecordKey | None = None) -> Page:
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
        return Page(keys=tuple(map(_record_key, page.items)), more=more)

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
    """What stores it, in the table of its lane."""
    return Put(table, key_item(key_of(schedule.id)), to_item(schedule))


def delete_record(table: str, key: RecordKey) -> Delete:
    """What deletes it, from the table of its lane."""
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
    """What is no number is no version, and waits for none."""
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
