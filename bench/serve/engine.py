"""The process of `delayer serve`, as others start it."""

import os
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path

from bench.peers.processes import Program, memory_mb
from local.project import PROJECT
from local.stack.ports import free_port

COMMAND = (sys.executable, "-m", "delayer_client.cli", "serve")
READY_SECONDS = 60
END_SECONDS = 40  # an attempt may take 30
POLL_SECONDS = 0.005
VARIABLES = {"PYTHONPATH": f"{PROJECT / 'shared'}:{PROJECT / 'client'}"}
TICKS = os.sysconf("SC_CLK_TCK")


class Engine:
    """On a folder and a port, which stay the same when it is started again."""

    def __init__(self, data: Path, log: Path) -> None:
        self.data, self.log, self.port = data, log, free_port()
        self.program: Program | None = None

    def start(self) -> float:
        """Seconds until it is reached by a client. Unavailable if it ends before, or takes too long."""
        began = time.monotonic()
        command = (*COMMAND, "--data", str(self.data), "--port", str(self.port))
        self.program = Program(command, self.log, VARIABLES)
        while not answers(self.port):
            if self.program.process.poll() is not None or time.monotonic() - began > READY_SECONDS:
                raise self.program.ended()
            time.sleep(POLL_SECONDS)
        return time.monotonic() - began

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """By a signal; a second call does nothing."""
        if self.program:
            self.program.stop(how, END_SECONDS)

    @property
    def pid(self) -> int:
        """Of its process."""
        assert self.program
        return self.program.process.pid

    def memory_mb(self) -> float:
        """0 if this machine does not say."""
        return memory_mb([self.pid]) or 0.0

    def processor_seconds(self) -> float:
        """That it has taken so far, in its own code and in the kernel's. 0 if this machine does not say."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / TICKS

    def written_mb(self) -> float:
        """That it has had written to the disk so far. 0 if this machine does not say."""
        with suppress(OSError):
            for line in Path(f"/proc/{self.pid}/io").read_text().splitlines():
                if line.startswith("write_bytes:"):
                    return int(line.split()[1]) / 1024**2
        return 0.0


def answers(port: int) -> bool:
    """Whether somebody answers a request there: a socket alone is open long before."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.settimeout(READY_SECONDS)
            connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            return bool(connection.recv(1))
    except OSError:
        return False
