"""Tries crash points: lays out the image of each, lets SQLite recover it, and asks whether all is as it must be."""

import pickle
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Protocol

from attrs import frozen

from tests.crashes.images import Case, CrashPoint, points
from tests.crashes.recorder import Recorder
from tests.crashes.recording import Recording

IN_MEMORY: Final = Path("/dev/shm")  # an image is read once, and then forgotten: a disk would only make it slower
SHOWN_EVERY: Final = 0.2  # seconds
CHUNK: Final = 100  # cases that a process tries at a time; those of one point are neighbours
Shown = Callable[[str], None]


class Broken(AssertionError):
    """After a power cut, something is not as it was promised."""


class CrashStory(Protocol):
    """A story that is played once, and the promise that is checked at each crash point of it."""

    name: str

    def play(self, recorder: Recorder) -> None:
        """Plays all of it in the folder of the recorder, and marks what the world was told."""

    def check(self, folder: Path, point: CrashPoint) -> None:
        """Opens what the power cut left, and goes on. Raises Broken, or any other error, if a promise was broken."""


@frozen
class Fault:
    """One crash point at which a promise was broken."""

    case: Case
    what: str


@frozen
class Tally:
    """How many crash points were tried, and which broke a promise."""

    tried: int
    faults: tuple[Fault, ...]


def shown(text: str) -> None:
    """On a terminal, in place of the line before."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


@contextmanager
def scratch() -> Iterator[Path]:
    """An empty folder, in memory if the machine has such a place."""
    with TemporaryDirectory(prefix="crashes-", dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
        yield Path(folder).resolve()


def recorded(story: CrashStory, folder: Path) -> Recording:
    """Plays a story in an existing folder."""
    with Recorder(folder) as recorder:
        story.play(recorder)
        return recorder.recording()


def try_all(
    story: CrashStory,
    recording: Recording,
    wanted: Sequence[Case],
    *,
    faults: int = 1,
    say: Shown = shown,
) -> Tally:
    """Checks each of the wanted points. It stops after so many faults; one and the same image is tried once."""
    began = last_shown = time.monotonic()
    found: list[Fault] = []
    tried = 0
    for point in points(recording, wanted):
        tried += 1
        if fault := try_one(story, point):
            found.append(fault)
            if len(found) == faults:
                break
        if (now := time.monotonic()) - last_shown > SHOWN_EVERY:
            last_shown = now
            say(f"{story.name}: {tried:,} of at most {len(wanted):,} crash points, {now - began:.0f} s")
    say("")
    return Tally(tried, tuple(found))


def try_on_all_processors(story: CrashStory, recording: Recording, wanted: Sequence[Case], *, faults: int = 1) -> Tally:
    """The same, in processes that the story is copied to. The first faults are those of the first points."""
    began, tried = time.monotonic(), 0
    found: list[Fault] = []
    chunks = [wanted[start : start + CHUNK] for start in range(0, len(wanted), CHUNK)]
    pool = ProcessPoolExecutor(mp_context=get_context("spawn"), initializer=_begin, initargs=(story, recording, faults))
    try:
        for number, tally in enumerate(pool.map(_try_chunk, chunks), 1):
            tried, found = tried + tally.tried, found + list(tally.faults)
            if len(found) >= faults:
                break
            done = min(number * CHUNK, len(wanted))
            shown(f"{story.name}: {done:,} of {len(wanted):,} crash points, {time.monotonic() - began:.0f} s")
    finally:
        pool.shutdown(cancel_futures=True)
    shown("")
    return Tally(tried, tuple(found[:faults]))


_given: list[tuple[CrashStory, Recording, int]] = []  # of a process: the story that it tries


def _begin(story: CrashStory, recording: Recording, faults: int) -> None:
    _given.append((story, recording, faults))


def _try_chunk(wanted: Sequence[Case]) -> Tally:
    [(story, recording, faults)] = _given
    return try_all(story, recording, wanted, faults=faults, say=_unseen)


def _unseen(text: str) -> None:
    """One process speaks for all."""


def try_one(story: CrashStory, point: CrashPoint) -> Fault | None:
    """Checks one point. Whatever is raised breaks a promise: after a power cut, the engine must start."""
    with scratch() as folder:
        point.lay_out(folder)
        try:
            story.check(folder, point)
        except Exception as error:  # noqa: BLE001 - whatever it is
            return Fault(point.case, f"{type(error).__name__}: {error}")
    return None


def keep(recording: Recording, path: Path) -> None:
    """Writes a recording to a file, so that a point of a story that never runs the same twice can be tried again."""
    path.write_bytes(pickle.dumps(recording))


def kept(path: Path) -> Recording:
    """Reads it. Only what this program wrote itself may be read so."""
    recording: Recording = pickle.loads(path.read_bytes())
    return recording


def summary(faults: Iterable[Fault]) -> str:
    """One line for each."""
    return "\n".join(f"  {fault.case}: {fault.what}" for fault in faults)
