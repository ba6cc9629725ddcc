"""Where a schedule stands, as people are told: one state, one time, one lateness.

The command line and the console say the same. States are those of the API. Whether an attempt has failed is said beside
the state, and is no state.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from delayer_client.api.models import HistoryEntry, Schedule

WAITING: Final = ("undecided", "scheduled", "enqueued")  # not handed over
LIVE: Final = (*WAITING, "claimed")
BAD: Final = ("failed", "dead-lettered")
ENDED: Final = ("executed", "failed", "cancelled", "replaced", "dropped", "dead-lettered")
STATES: Final = ("undecided", "decided", "scheduled", "enqueued", "claimed", *ENDED)


def is_retried(one: "Schedule") -> bool:
    """Whether an attempt has failed, and another one waits or runs. Its state is `claimed`.

    A first attempt that waits, for its limit or its circuit, has a next time, too.
    """
    return one.state == "claimed" and (one.attempt or 1) > 1


def retry_in_words(one: "Schedule") -> str:
    """The number of the attempt that runs or comes next, as it is said beside the state: "attempt 3".

    Empty if it is not retried.
    """
    return f"attempt {one.attempt}" if is_retried(one) else ""


def next_time(one: "Schedule") -> datetime | None:
    """When it is handed over or attempted next, at the earliest. None: it has ended, it runs, or nobody knows.

    A circuit may make an attempt wait for longer than it was planned, and an overdue schedule waits for something.
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
