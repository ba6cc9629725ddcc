"""A forked process, and what its code writes."""

import fcntl
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
from typing import Final

LARGEST_LOG: Final = 1 << 20  # bytes of a log that has been read, before its file is emptied


class ForkedProcess:
    """As subprocess.Popen, as far as ministack uses it. Its end shows at our end of the channel."""

    def __init__(self, pid: int, channel: socket.socket) -> None:
        self.pid = pid
        self.channel = channel

    def poll(self) -> int | None:
        """None as long as it runs. Another thread may wait for its answer meanwhile: nothing is read here."""
        look = select.poll()
        try:
            look.register(self.channel.fileno(), select.POLLHUP | select.POLLERR)
            return 1 if look.poll(0) else None
        except (OSError, ValueError):  # the channel is closed
            return 1

    def wait(self, timeout: float | None = None) -> int:
        """Raises TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            time.sleep(0.005)
        self.channel.close()
        return code

    def terminate(self) -> None:
        """It is between two invocations, or it has run out of time: there is nothing to be polite for."""
        self.kill()

    def kill(self) -> None:
        """By SIGKILL."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


class Log:
    """The log that the code of one environment writes. It goes into a file, so that all of it is there when
    it answers.
    """

    def __init__(self) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the environment lives
        # Its mode would not say so to the system: after it was emptied, the next line would leave a hole before it.
        fcntl.fcntl(self.file, fcntl.F_SETFL, os.O_APPEND)
        self.read_until = 0

    def new(self) -> str:
        """Returns the text that was written since the last time."""
        number = self.file.fileno()
        end = os.fstat(number).st_size
        text = os.pread(number, end - self.read_until, self.read_until).decode(errors="replace")
        self.read_until = end
        if end > LARGEST_LOG:
            os.ftruncate(number, 0)
            self.read_until = 0
        return text.rstrip("\n")
