"""When the net looks for what still waits for its time: the younger it is, the sooner again (ADR 0096).

Each tick looks at a few minutes of the past, not at all that waits. So each schedule is found again after three
minutes, ten and thirty, then each hour, and after a day each day, however many wait, and whatever each of them
waits for. A tick that was missed finds nothing less the next time.
"""

from collections.abc import Iterator
from typing import Final

from delayer.core.schedule.instants import Minute

FIRST: Final = (3, 10, 30)  # minutes after it was accepted
HOUR: Final = 60  # minutes
DAY: Final = 24 * HOUR


def minutes_to_search(now: Minute, oldest: Minute) -> Iterator[Minute]:
    """The minutes in which what is looked for now was accepted, given the minute of the oldest that waits."""
    ages = (*FIRST, *range(HOUR, DAY, HOUR), *range(DAY, now - oldest + 1, DAY))
    yield from (now - age for age in ages if now - age >= oldest)
