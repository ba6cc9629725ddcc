"""Where a schedule stands, as people are told: one word, one time, one lateness.

The command line and the console say the same, in the words of the API. `retrying` alone is more exact than `claimed`.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from delayer_client.api.models import HistoryEntry, Schedule

RETRYING: Final = "retrying"  # claimed, and an attempt has failed: another one waits, or runs
WAITING: Final = ("undecided", "scheduled", "enqueued")  # not handed over
LIVE: Final = (*WAITING, "claimed")
BAD: Final = ("failed", "dead-lettered")
ENDED: Final = ("executed", "failed", "cancelled", "replaced", "dropped", "dead-lettered")
WORDS: Final = ("undecided", "decided", "scheduled", "enqueued", "claimed", RETRYING, *ENDED)


def word(one: "Schedule") -> str:
    """Its state. One that is not known here is said as it is."""
    return RETRYING if one.state == "claimed" and (one.next_attempt_at or (one.attempt or 1) > 1) else one.state


def asked_as(said: str | None) -> str | None:
    """The state by which the API lists those of a word; of them, `fits` are meant."""
    return "claimed" if said == RETRYING else said


def fits(one: "Schedule", said: str | None) -> bool:
    """Whether it belongs into the list of those of a word."""
    return said != RETRYING or word(one) == RETRYING


def next_time(one: "Schedule") -> datetime | None:
    """When it is handed over or attempted next, at the earliest. None: it has ended, it runs, or nobody knows.

    A circuit may keep an attempt back for longer than it was planned, and what is overdue is kept back by something.
    """
    if one.state not in LIVE or (one.state == "claimed" and one.next_attempt_at is None):
        return None
    planned = one.next_attempt_at or one.point_in_time
    if one.waiting is None or planned is None:
        return planned
    return max(planned, one.waiting.until) if one.waiting.until else None


def has_fired(one: "Schedule") -> bool:
    """Whether it has ended by its attempts, and how late it was is known."""
    return one.state not in LIVE and one.lateness_ms is not None and one.point_in_time is not None


def own_lateness(entry: "HistoryEntry") -> int | None:
    """Of the attempt that an event is about, in milliseconds. Older stacks tell that of the first only."""
    if entry.attempt_lateness_ms is not None:
        return entry.attempt_lateness_ms
    return entry.lateness_ms if (entry.attempt or 1) == 1 else None
