"""How many schedules of an owner are live, as far as the journal has come (ADR 0054)."""

from typing import Protocol

from delayer.core.schedule.instants import Millis


class UpdatesLiveCount(Protocol):
    """Part of LiveCount."""

    def started(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        """One more; a schedule counts once, and not if its end was noted already."""
        ...

    def ended(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        """One less, if it was counted."""
        ...


class ReadsLiveCount(Protocol):
    """Part of LiveCount."""

    def live(self, owner: str, now: Millis) -> int:
        """How many are live and due in the last four weeks, in these four, or later; never below 0.

        An older one, whose end never arrived here, does not count any more.
        """
        ...


class LiveCount(UpdatesLiveCount, ReadsLiveCount, Protocol):
    """All of it."""
