"""Keeps which messages have been begun and never come to an end (ADR 0081); functions that handle what comes again."""

from collections.abc import Sequence
from typing import Protocol

from delayer.engines.ports import ReceivedMessage
from delayer.recovery.rules import Trial
from delayer.schedule.instants import Millis


class Trials(Protocol):
    """Keeps which messages have been begun, and never came to an end."""

    def unfinished(self, suspect: str) -> Trial | None:
        """The last run with it, if that never came to an end. Strongly consistent."""
        ...

    def begin(self, suspect: str, trial: Trial) -> None:
        """Notes that a run with it begins."""
        ...

    def finish(self, suspect: str) -> None:
        """A run came to the end of it: nothing is noted of it any more."""
        ...

    def any_unfinished(self, messages: Sequence[str]) -> set[str]:
        """Returns the messages of which the last run never came to an end. Strongly consistent."""
        ...

    def begin_all(self, messages: Sequence[str], began: Millis) -> None:
        """Notes that a run with all of them begins. If it raises Unavailable, some may be noted."""
        ...

    def finish_all(self, messages: Sequence[str]) -> None:
        """A run came to the end of all of them."""
        ...

    def note_pass(self, function: str, now: Millis) -> None:
        """The function came to the end of something. Forward only."""
        ...

    def passed(self, function: str) -> Millis | None:
        """When it last did so; None if never."""
        ...


class Absent(Exception):
    """There is no such function."""


class Consumers(Protocol):
    """The functions that read a queue whose messages become suspects."""

    def handle(self, function: str, message: ReceivedMessage) -> bool:
        """Has a function handle a message as one of the queue of suspects; whether it is done.

        Raises Absent; Unavailable if it could not be asked, Died if it did not come to its end, or not in time.
        """
        ...


class Died(Exception):
    """The function died of these records."""


class StreamConsumer(Protocol):
    """stream-enqueuer, and relaxed-claimer for records of the relaxed table: the minute task asks them (ADR 0082)."""

    def handle(self, records: Sequence[object]) -> Sequence[int]:
        """Has it handle records of the stream once more; returns the positions of those it could not handle.

        Raises Unavailable if it could not be asked, Died if it did not come to the end, or not in time.
        """
        ...
