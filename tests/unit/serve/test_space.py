"""Room on the disk: what is new stops early, and what was promised has a reserve."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from attrs import define
from hypothesis import given
from hypothesis import strategies as st

from delayer.serve.data import space as module
from delayer.serve.data.space import (
    MEGABYTE,
    NEARLY_FULL,
    RESERVE,
    RESTRICTED,
    ReserveStep,
    Space,
    allocate,
    is_restricted,
    step,
)

SMALL = 3 * MEGABYTE  # of a reserve, in tests


@define
class Disk:
    """Tells what it is told, less what the reserve takes."""

    folder: Path
    size: int = 1000 * MEGABYTE

    def free(self) -> int:
        return self.size - sum(one.stat().st_blocks * 512 for one in self.folder.iterdir())


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


@pytest.fixture
def space(disk: Disk) -> Space:
    return Space(folder=disk.folder, free=disk.free, reserve=SMALL)


def test_below_100_megabytes_nothing_new_is_taken() -> None:
    assert not is_restricted(100 * MEGABYTE)
    assert is_restricted(100 * MEGABYTE - 1)


@pytest.mark.parametrize(
    ("free", "has_reserve", "expected"),
    [
        (NEARLY_FULL, True, ReserveStep.KEEP),
        (NEARLY_FULL - 1, True, ReserveStep.RELEASE),
        (0, False, ReserveStep.KEEP),
        (RESTRICTED + RESERVE - 1, False, ReserveStep.KEEP),
        (RESTRICTED + RESERVE, False, ReserveStep.REFILL),
        (10**12, True, ReserveStep.KEEP),
    ],
)
def test_when_the_reserve_is_released_and_refilled(free: int, has_reserve: bool, expected: ReserveStep) -> None:
    assert step(free, has_reserve=has_reserve) is expected


@given(st.integers(0, 10**12), st.booleans())
def test_no_step_is_undone_by_the_next(free: int, has_reserve: bool) -> None:
    """Else the file would come and go. And a refill restricts nobody."""
    match step(free, has_reserve=has_reserve):
        case ReserveStep.RELEASE:
            assert step(free + RESERVE, has_reserve=False) is ReserveStep.KEEP
        case ReserveStep.REFILL:
            assert step(free - RESERVE, has_reserve=True) is ReserveStep.KEEP
            assert not is_restricted(free - RESERVE)


def test_before_the_first_look_nothing_new_is_taken(space: Space) -> None:
    assert space.restricted
    assert not space.look()
    assert not space.restricted


def test_the_reserve_is_really_on_the_disk(space: Space, disk: Disk) -> None:
    space.look()
    reserve = disk.folder / "reserve"
    assert reserve.stat().st_size == SMALL
    assert reserve.stat().st_blocks * 512 >= SMALL


def test_a_disk_that_fills_up_and_empties(space: Space, disk: Disk) -> None:
    space.look()
    disk.size = 99 * MEGABYTE + SMALL
    assert space.look()
    assert space.has_reserve()
    disk.size = NEARLY_FULL - 1 + SMALL
    assert space.look()
    assert not space.has_reserve()
    disk.size = RESTRICTED + RESERVE
    assert not space.look()
    assert space.has_reserve()


def test_what_a_failed_write_does(space: Space) -> None:
    """The turn does not wait for the next look."""
    space.look()
    assert space.release(), "there is room now: it may be tried again"
    assert space.restricted
    assert not space.release(), "there was none left"


def test_what_a_crash_has_left_of_a_reserve_is_none(space: Space, disk: Disk) -> None:
    (disk.folder / "reserve").write_bytes(b"begun")
    assert not space.has_reserve()
    assert space.refill()
    assert space.has_reserve()
    assert space.refill()


def test_a_reserve_that_does_not_fit_leaves_nothing_behind(
    space: Space, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int, size: int) -> None:
        os.write(descriptor, b"a part")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "allocate", full)
    assert not space.refill()
    assert list(disk.folder.iterdir()) == []


def test_another_error_is_not_hidden(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process ends then, and never goes on."""

    def broken(*arguments: Any) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(module, "allocate", broken)
    with pytest.raises(OSError, match="Input/output"):
        space.refill()


def test_where_nothing_allocates_zeros_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS."""
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    with (tmp_path / "reserve").open("wb") as file:
        allocate(file.fileno(), SMALL + 1)
    assert (tmp_path / "reserve").stat().st_size == SMALL + 1
