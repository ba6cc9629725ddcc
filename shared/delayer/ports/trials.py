"""The control rows of suspects: which messages have been begun and never come to an end (ADR 0081)."""

from collections.abc import Sequence
from typing import Protocol

from delayer.core.recovery.trial import Trial
from delayer.core.schedule.instants import Millis


class TriesSuspects(Protocol):
    """Part of Trials."""

    def unfinished(self, suspect: str) -> Trial | None:
        """The last run with it, if that never came to an end. Strongly consistent."""
        ...

    def begin(self, suspect: str, trial: Trial) -> None:
        """Notes that a run with it begins."""
        ...

    def finish(self, suspect: str) -> None:
        """A run came to the end of it: nothing is noted of it any more."""
        ...


class TriesBatches(TriesSuspects, Protocol):
    """Part of Trials."""

    def any_unfinished(self, messages: Sequence[str]) -> set[str]:
        """Those of which the last run never came to an end. Strongly consistent."""
        ...

    def begin_all(self, messages: Sequence[str], began: Millis) -> None:
        """Notes that a run with all of them begins. If it raises Unavailable, some may be noted."""
        ...

    def finish_all(self, messages: Sequence[str]) -> None:
        """A run came to the end of all of them."""
        ...


class NotesPasses(Protocol):
    """Part of Trials."""

    def note_pass(self, function: str, now: Millis) -> None:
        """The function came to the end of something. Forward only."""
        ...

    def passed(self, function: str) -> Millis | None:
        """When it last did so; None if never."""
        ...


class Trials(TriesBatches, NotesPasses, Protocol):
    """All of it."""
