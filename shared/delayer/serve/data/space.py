"""Keeps room on the disk of the data folder, so that what was promised can be written when it is full."""

import os
from collections.abc import Callable
from enum import Enum, auto
from pathlib import Path
from typing import Final

from attrs import define, field

from delayer.serve.data.folder import FULL

MEGABYTE: Final = 1_000_000
RESTRICTED: Final = 100 * MEGABYTE  # bytes; with fewer free ones nothing new is taken
RESERVE: Final = 64 * MEGABYTE  # bytes of the reserve
NEARLY_FULL: Final = 8 * MEGABYTE  # bytes; the reserve is released before a write fails
FILE: Final = "reserve"
CHUNK: Final = MEGABYTE


class ReserveStep(Enum):
    """Says what is done with the reserve."""

    KEEP = auto()
    RELEASE = auto()
    REFILL = auto()


def is_restricted(free: int) -> bool:
    """Whether POST and PUT are refused. Cancels, claims and outcomes go on: they end what is there."""
    return free < RESTRICTED


def step(free: int, *, has_reserve: bool) -> ReserveStep:
    """A refill never restricts."""
    if has_reserve:
        return ReserveStep.RELEASE if free < NEARLY_FULL else ReserveStep.KEEP
    return ReserveStep.KEEP if is_restricted(free - RESERVE) else ReserveStep.REFILL


@define(kw_only=True)
class Space:
    """Looks after the free space of a folder. One thread at a time uses it."""

    folder: Path
    free: Callable[[], int]  # bytes
    reserve: int = RESERVE  # bytes
    restricted: bool = field(init=False, default=True)  # since the last look; before the first, nothing is known

    def look(self) -> bool:
        """Whether POST and PUT are refused from now on. Releases the reserve, or refills it. Raises OSError."""
        match step(self.free(), has_reserve=self.has_reserve()):
            case ReserveStep.RELEASE:
                self.release()
            case ReserveStep.REFILL:
                self.refill()
        self.restricted = is_restricted(self.free())
        return self.restricted

    def has_reserve(self) -> bool:
        """Whether all of it is there: what a crash has left of one is none."""
        return self._file.exists() and self._file.stat().st_size == self.reserve

    def release(self) -> bool:
        """Whether it has made room: there was a reserve. Nothing new is taken from now on, until the next look."""
        self.restricted = True
        there = self.has_reserve()
        self._file.unlink(missing_ok=True)
        return there

    def refill(self) -> bool:
        """Whether there is a reserve now. Its blocks are allocated: a file with holes would reserve nothing."""
        if self.has_reserve():
            return True
        try:
            with os.fdopen(
                os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb"
            ) as file:
                allocate(file.fileno(), self.reserve)
        except OSError as error:
            self._file.unlink(missing_ok=True)
            if error.errno not in FULL:
                raise
            return False
        return True

    @property
    def _file(self) -> Path:
        return self.folder / FILE


def allocate(descriptor: int, size: int) -> None:
    """Gives so many bytes to an empty file. Raises OSError."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
        return
    for at in range(0, size, CHUNK):  # macOS
        os.pwrite(descriptor, bytes(min(CHUNK, size - at)), at)
