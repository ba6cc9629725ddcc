"""The control rows: small state that coordinates writers and sweepers (ADR 0048)."""

from collections.abc import Collection
from typing import Protocol

from delayer.core.schedule.bucket import Progress, Shards
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.schedule_id import IdKeys
from delayer.core.schedule.table_change import Heartbeat, Heartbeats


class ReadsShards(Protocol):
    """Part of Control."""

    def shards(self) -> Shards | None:
        """Strongly consistent; None if nothing was ever written."""
        ...


class RaisesShards(Protocol):
    """Part of Control."""

    def raise_shards(self, wanted: Shards) -> Shards:
        """Raises the highest shard if it is lower, keeps the first `since`; returns the row as it is afterwards."""
        ...


class ReadsIdKeys(Protocol):
    """Part of Control."""

    def id_keys(self) -> IdKeys:
        """The secrets behind the ids, strongly consistent; empty if none was made yet."""
        ...


class WritesIdKeys(Protocol):
    """Part of Control."""

    def write_id_keys(self, keys: IdKeys, over: IdKeys) -> bool:
        """Whether they were written; False: others than `over` were there, perhaps these by an earlier try."""
        ...


class TracksProgress(Protocol):
    """Part of Control."""

    def progress(self) -> Progress | None:
        """How far the sweep came; None before the first."""
        ...

    def advance(self, progress: Progress) -> None:
        """Writes it; the watermark moves forward only, whatever another tick wrote in between."""
        ...


class ReadsHeartbeat(Protocol):
    """Part of Control."""

    def heartbeats(self) -> Heartbeats:
        """What is known of them, strongly consistent."""
        ...


class AwaitsHeartbeats(Protocol):
    """Part of Control."""

    def await_lanes(self, heartbeats: Collection[Heartbeat]) -> None:
        """From now on they are awaited."""
        ...


class NotesHeartbeat(Protocol):
    """Part of Control."""

    def note_heartbeat(self, sent_at: Millis) -> None:
        """Forward only. Says, too, that this code knows heartbeats with a lane."""
        ...

    def note_lanes(self, heartbeats: Collection[Heartbeat]) -> None:
        """They came through, and are awaited no more."""
        ...


class Control(
    ReadsShards,
    RaisesShards,
    ReadsIdKeys,
    WritesIdKeys,
    TracksProgress,
    ReadsHeartbeat,
    AwaitsHeartbeats,
    NotesHeartbeat,
    Protocol,
):
    """All of it."""
