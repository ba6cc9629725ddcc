"""Notes that a run with a suspect came to its end, or that it was read without harm."""

from collections.abc import Callable
from functools import partial
from typing import Final, TypeVar

from delayer.core.recovery.trial import Trial
from delayer.core.schedule.instants import SECOND, Millis
from delayer.ports.clock import Clock
from delayer.ports.observer import Observer
from delayer.ports.trials import TriesSuspects
from delayer.ports.unavailable import Unavailable

PATIENCE: Final[Millis] = 5 * SECOND  # since the run began: every function that has suspects has more time than that
PAUSE: Final[Millis] = 250
READS: Final = 2  # runs that died of reading what is to be given up, until it is stored unread

Read = TypeVar("Read")


def finish_trial(
    finish: Callable[[], None], *, began: Millis, comes_again: bool, clock: Clock, observer: Observer
) -> None:
    """A run whose end is not noted counts as one that its function died of. So the note of what comes again is tried
    for a while: half an outage, in which most calls fail, must not make a killer of it.
    """
    while True:
        try:
            return finish()
        except Unavailable as error:
            if not comes_again or clock.now() + PAUSE > began + PATIENCE:
                return observer.warn("not noted that a run came to its end", error=str(error))
        clock.sleep_until(clock.now() + PAUSE)


def read_of_suspect(
    trials: TriesSuspects, suspect: str, read: Callable[[], Read], clock: Clock, observer: Observer
) -> Read | None:
    """What is in a suspect that is to be given up; None if the function has died of reading it. Raises Unavailable."""
    reading, began = f"{suspect}-read", clock.now()
    before = trials.unfinished(reading)
    tries = before.proofs + 1 if before else 0
    if tries >= READS:
        return None
    trials.begin(reading, Trial(began=began, proofs=tries))
    try:
        found = read()
    except Exception as error:  # noqa: BLE001 - it is stored unread, then
        observer.warn("a suspect that cannot be read", error=repr(error))
        found = None
    finish_trial(partial(trials.finish, reading), began=began, comes_again=True, clock=clock, observer=observer)
    return found
