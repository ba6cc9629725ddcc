"""Processes call themselves so, for `ps` and for those who measure them."""

from contextlib import suppress
from pathlib import Path
from typing import Final

FUNCTION: Final = "fn "
PARENT: Final = "parent of fns"
LONGEST: Final = 15  # characters, says Linux


def call(name: str) -> None:
    """Give this process a name, where that is possible."""
    with suppress(OSError):
        Path("/proc/self/comm").write_text(name[:LONGEST])
