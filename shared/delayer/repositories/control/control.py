"""The control rows `shards`, `sweep`, `heartbeat`, `id-key`."""

import base64
from collections.abc import Collection
from typing import Final

from attrs import frozen

from delayer.core.schedule.bucket import Progress, Shards
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule_id import FIRST_VERSION, IdKey, IdKeys
from delayer.core.schedule.table_change import Heartbeat, Heartbeats
from delayer.ports.unavailable import Unavailable
from delayer.store.conditions import All, Condition, Has, Is, Some, lacks
from delayer.store.items import Item, StoredItem, row_key
from delayer.store.mapped import NUMBER, Mapped, encoded
from delayer.store.store import Refused, Store
from delayer.store.writes import Change, Put

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


@frozen(kw_only=True)
class StoredControl:
    """Port Control."""

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
        except Refused:
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
        except Refused:
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
