"""How long `python -m local` takes until it says that it serves, and how much memory it has then."""

import subprocess
import sys
import time

from attrs import frozen

from bench.machine.memory import pss_mb
from local.errors import EmulatorError
from local.project import PROJECT
from local.stack.ports import free_port

SAYS = "Delayer serves"
LONGEST_SECONDS = 120


@frozen(kw_only=True)
class Ready:
    """Of one start."""

    seconds: float  # from the start of the command's process
    command_mb: float | None  # of the command's own process; None where the kernel does not tell


def measure() -> Ready:
    """Start the command once, and end it. EmulatorError if it does not start."""
    port = free_port()
    began = time.monotonic()
    command = [sys.executable, "-u", "-m", "local", "--no-demo", "--port", str(port)]
    process = subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        seen = []
        for line in process.stdout or ():
            seen.append(line)
            if SAYS in line:
                return Ready(seconds=time.monotonic() - began, command_mb=pss_mb(process.pid))
        raise EmulatorError(f"python -m local did not start: {''.join(seen[-3:])}")
    finally:
        process.terminate()
        process.wait(LONGEST_SECONDS)
