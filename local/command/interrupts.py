"""Ctrl-C, SIGTERM, and the end of the terminal end a run in the same way."""

import signal
from types import FrameType


def interrupt(_signal_number: int, _frame: FrameType | None) -> None:
    """End on SIGTERM in the same way as on SIGINT."""
    raise KeyboardInterrupt


def install() -> None:
    """A shell lets its background jobs ignore SIGINT, and `nohup` lets them ignore SIGHUP: that alone stays."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, interrupt)
