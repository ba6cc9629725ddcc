"""The control rows."""

from attrs import define

from delayer.core.schedule.bucket import Progress, Shards
from delayer.core.schedule.instants import Millis


@define
class MemoryControl:
    """Port Control."""

    _shards: Shards | None = None
    _id_key: bytes | None = None
    _progress: Progress | None = None
    _heartbeat: Millis | None = None

    def shards(self) -> Shards | None:
        return self._shards

    def raise_shards(self, wanted: Shards) -> Shards:
        current = self._shards or wanted
        self._shards = Shards(highest=max(current.highest, wanted.highest), since=current.since)
        return self._shards

    def id_key(self, candidate: bytes) -> bytes:
        self._id_key = self._id_key or candidate
        return self._id_key

    def progress(self) -> Progress | None:
        return self._progress

    def advance(self, progress: Progress) -> None:
        if self._progress is None or self._progress.closed_until <= progress.closed_until:
            self._progress = progress

    def heartbeat_seen(self) -> Millis | None:
        return self._heartbeat

    def note_heartbeat(self, sent_at: Millis) -> None:
        self._heartbeat = max(self._heartbeat or sent_at, sent_at)
