"""Notes that a run with a suspect came to its end."""

from typing import Final

from delayer.core.schedule.instants import SECOND, Millis
from delayer.ports.clock import Clock
from delayer.ports.observer import Observer
from delayer.ports.trials import TriesSuspects
from delayer.ports.unavailable import Unavailable

PATIENCE: Final[Millis] = 5 * SECOND  # since the run began: every function that has suspects has more time than that
PAUSE: Final[Millis] = 250


def finish_trial(
    trials: TriesSuspects, suspect: str, *, began: Millis, comes_again: bool, clock: Clock, observer: Observer
) -> None:
    """A run whose end is not noted counts as one that its function died of. So the note of a suspect that comes again
    is tried for a while: half an outage, in which most calls fail, must not make a killer of it.
    """
    while True:
        try:
            return trials.finish(suspect)
        except Unavailable as error:
            if not comes_again or clock.now() + PAUSE > began + PATIENCE:
                return observer.warn("not noted that a suspect came to its end", error=str(error))
        clock.sleep_until(clock.now() + PAUSE)
