"""The control rows."""

from collections.abc import Collection

from attrs import define, field

from delayer.core.schedule.bucket import Progress, Shards
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule_id import IdKeys
from delayer.core.schedule.table_change import Heartbeat, Heartbeats


@define
class MemoryControl:
    """Port Control."""

    _shards: Shards | None = None
    _id_keys: IdKeys = field(factory=IdKeys)
    _progress: Progress | None = None
    _heartbeat: Millis | None = None
    _awaited: set[Heartbeat] = field(factory=set)
    _reads_lanes: bool = False

    def shards(self) -> Shards | None:
        return self._shards

    def raise_shards(self, wanted: Shards) -> Shards:
        current = self._shards or wanted
        self._shards = Shards(highest=max(current.highest, wanted.highest), since=current.since)
        return self._shards

    def id_keys(self) -> IdKeys:
        return self._id_keys

    def write_id_keys(self, keys: IdKeys, over: IdKeys) -> bool:
        if self._id_keys.newest != over.newest:
            return False
        self._id_keys = keys
        return True

    def progress(self) -> Progress | None:
        return self._progress

    def advance(self, progress: Progress) -> None:
        if self._progress is None or self._progress.closed_until <= progress.closed_until:
            self._progress = progress

    def heartbeats(self) -> Heartbeats:
        known = self._awaited if self._reads_lanes else ()
        oldest_first = tuple(sorted(known, key=lambda one: (one.sent_at, one.lane)))
        return Heartbeats(seen=self._heartbeat, awaited=oldest_first, reads_lanes=self._reads_lanes)

    def note_heartbeat(self, sent_at: Millis) -> None:
        self._heartbeat, self._reads_lanes = max(self._heartbeat or sent_at, sent_at), True

    def await_lanes(self, heartbeats: Collection[Heartbeat]) -> None:
        self._awaited.update(heartbeats)

    def note_lanes(self, heartbeats: Collection[Heartbeat]) -> None:
        self._awaited.difference_update(heartbeats)
