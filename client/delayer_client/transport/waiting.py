"""When to look again at a schedule that somebody waits for."""

from datetime import datetime, timedelta
from typing import Final

from delayer_client.api.models import Schedule
from delayer_client.calls.times import Seconds, seconds
from delayer_client.errors import NotEnded
from delayer_client.states import ENDED, next_time

SHORTEST: Final[Seconds] = 0.2
LONGEST: Final[Seconds] = 30.0  # it may be changed meanwhile


def next_look(found: Schedule, began: datetime, now: datetime, timeout: timedelta | Seconds | None) -> Seconds | None:
    """Seconds until the next look; None if it has ended. Raises NotEnded."""
    if found.state in ENDED:
        return None
    left = None if timeout is None else seconds(timeout) - (now - began).total_seconds()
    if left is not None and left <= 0:
        raise NotEnded(f"Schedule {found.id} is still {found.state}.")
    due = next_time(found) or found.next_attempt_at or found.point_in_time
    ahead = (due - now).total_seconds() if due else 0
    # Soon after it is due, then ever more seldom.
    pause = ahead + SHORTEST if ahead > 0 else max(SHORTEST, -ahead / 10)
    return min(pause, LONGEST, *([left] if left is not None else []))
