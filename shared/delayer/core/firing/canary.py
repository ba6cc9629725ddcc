"""The canary: a schedule of Delayer's own in every tick, whose arrival shows that the whole path works (ADR 0075)."""

from enum import StrEnum
from typing import Final

from attrs import frozen

from delayer.core.schedule.definition import Definition
from delayer.core.schedule.instants import MINUTE, SECOND, Millis, minute_of

NEAR_AHEAD: Final[Millis] = 30 * SECOND
FAR_AHEAD: Final[Millis] = 2 * MINUTE  # beyond the delayer period: a later tick sweeps it
ON_LATE: Final = '{"after":"PT5M","do":"drop"}'  # after an outage the old ones do not come all at once


class Path(StrEnum):
    """The two ways into the delayer queue: each has a canary of its own, since one can fail without the other."""

    NEAR = "near"  # due within the delayer period: the fast track
    FAR = "far"  # due beyond it: the sweep of a later tick


@frozen(kw_only=True)
class Canary:
    """What a tick schedules."""

    path: Path
    point_in_time: Millis
    definition: Definition


def next_canary(now: Millis, period: Millis) -> Canary:
    """The canary of a tick at this instant; the minutes take turns. `period` is the delayer period."""
    path = Path.FAR if minute_of(now) % 2 else Path.NEAR
    ahead = NEAR_AHEAD if path is Path.NEAR else period + FAR_AHEAD
    action = f'{{"type":"canary","path":"{path}"}}'
    return Canary(path=path, point_in_time=now + ahead, definition=Definition(action=action, on_late=ON_LATE))
