"""Ctrl-C, SIGTERM, and the end of the terminal: the first one ends the run, and the next ones its saving."""

import signal
import threading
from types import FrameType


def interrupt(_signal_number: int, _frame: FrameType | None) -> None:
    """End on SIGTERM in the same way as on SIGINT: for a command that has nothing to save."""
    raise KeyboardInterrupt


class Interrupts:
    """The handler of these signals.

    The first is a KeyboardInterrupt. From then on, or from the moment at which the saving begins, Ctrl-C and SIGTERM
    count: one ends the waiting, and one more the saving. No signal falls between the two, as nothing is installed anew.
    """

    def __init__(self) -> None:
        self.hurry = threading.Event()
        self.has_ended = False  # whether the run is at its end
        self.keeps = False  # whether its end saves anything

    def install(self) -> None:
        """A shell lets its background jobs ignore SIGINT, and `nohup` lets them ignore SIGHUP: that alone stays."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            signal.signal(signal.SIGHUP, self)

    def __call__(self, number: int, _frame: FrameType | None) -> None:
        """One came."""
        if not self.has_ended or not self.keeps:
            self.has_ended = True
            raise KeyboardInterrupt
        if number == signal.SIGHUP:
            return  # a terminal that closes may send it twice, and nobody is impatient
        if self.hurry.is_set():
            raise KeyboardInterrupt
        self.hurry.set()
