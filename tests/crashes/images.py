"""The states that a disk may be in after a power cut: at each point of a recording, several.

The model is that of POSIX, which promises little: whatever was synced is there. Of what was written to a file since it
was last synced there may be nothing, all, the beginning, or any of its sectors; a sector that was not taken may hold
what it held before, or anything. A file whose folder was not synced since it was created may be missing; one that was
deleted may be back. Bytes beside those of a write stay what they are, which SQLite relies on (its "powersafe
overwrite"). Files are independent of each other: the later one may be whole and the earlier one lost.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from hashlib import blake2b
from itertools import pairwise, zip_longest
from pathlib import Path
from random import Random
from typing import Final, TypeAlias

from attrs import define, field, frozen

from tests.crashes.recording import (
    Created,
    Deleted,
    Event,
    FolderSynced,
    Found,
    Marked,
    Operation,
    Recording,
    Synced,
    Truncated,
    Written,
)

Change: TypeAlias = Written | Truncated
SECTOR: Final = 512
PAGE: Final = 4096
GARBAGE: Final = 0.1  # the share of the lost sectors that hold neither what they held nor what was written


class How(StrEnum):
    """How much of what was not synced is there."""

    NOTHING = "nothing"
    ALL = "all"
    PREFIX = "prefix"  # the beginning; its last write may be torn
    SECTORS = "sectors"  # any of its sectors of 512 bytes
    PAGES = "pages"  # any of its sectors of 4 KiB


@frozen(order=True)
class Case:
    """Which image: after how many operations, how, and by which seed. Its text names it in a command."""

    number: int
    how: How
    seed: int = 0

    def __str__(self) -> str:
        return f"{self.number}-{self.how}-{self.seed}"

    @classmethod
    def from_text(cls, text: str) -> "Case":
        """The inverse. Raises ValueError."""
        number, how, seed = text.split("-")
        return cls(int(number), How(how), int(seed))


@frozen
class CrashPoint:
    """One image, and what the program had told the world by then."""

    case: Case
    last: Operation  # the last one that the program got an answer to
    marks: tuple[object, ...]
    files: dict[str, bytes] = field(repr=False)

    def lay_out(self, folder: Path) -> None:
        """Writes the files into an empty folder, for SQLite to open."""
        for name, content in self.files.items():
            (folder / name).write_bytes(content)


@define(eq=False)
class _File:
    synced: bytearray = field(factory=bytearray)
    pending: list[Change] = field(factory=list)

    def sync(self) -> None:
        for change in self.pending:
            _apply(self.synced, change)
        self.pending.clear()

    def content(self, changes: Sequence[Change]) -> bytes:
        content = bytearray(self.synced)
        for change in changes:
            _apply(content, change)
        return bytes(content)


@define
class _Disk:
    files: dict[str, _File] = field(factory=dict)  # as the program sees them
    entries: dict[str, list[_File | None]] = field(factory=dict)  # of each name: what is synced, and what came since
    syncs: int = 0

    def play(self, event: Event) -> None:
        self.syncs += isinstance(event, Synced | FolderSynced)
        match event:
            case Found():
                self.files[event.file] = _File(bytearray(event.content))
                self.entries[event.file] = [self.files[event.file]]
            case Created():
                self.files[event.file] = _File()
                self.entries.setdefault(event.file, [None]).append(self.files[event.file])
            case Deleted():
                self.files.pop(event.file, None)
                self.entries.setdefault(event.file, [None]).append(None)
            case FolderSynced():
                self.entries = {name: [file] for name, file in self.files.items()}
            case Synced() if event.file in self.files:
                self.files[event.file].sync()
            case Written() | Truncated() if event.file in self.files:
                self.files[event.file].pending.append(event)

    @property
    def is_synced(self) -> bool:
        return not any(file.pending for file in self.files.values()) and all(
            len(states) == 1 for states in self.entries.values()
        )

    def image(self, case: Case) -> dict[str, bytes]:
        chance = Random(str(case))
        kept = ((name, self._entry(name, case.how, chance)) for name in sorted(self.entries))
        return {name: file.content(_kept(file.pending, case.how, chance)) for name, file in kept if file is not None}

    def _entry(self, name: str, how: How, chance: Random) -> _File | None:
        states = self.entries[name]
        match how:
            case How.NOTHING:
                return states[0]
            case How.ALL:
                return states[-1]
        return states[_some(len(states) - 1, chance)]


def _apply(content: bytearray, change: Change) -> None:
    """A hole is full of zeros."""
    if isinstance(change, Truncated):
        del content[change.size :]
        content.extend(bytes(change.size - len(content)))
    else:
        content.extend(bytes(max(0, change.offset - len(content))))
        content[change.offset : change.offset + len(change.data)] = change.data


def _some(at_most: int, chance: Random) -> int:
    """A number up to this one. Nothing and all are frequent: one file may have all while the other has nothing."""
    return chance.choice((0, at_most, chance.randint(0, at_most), chance.randint(0, at_most)))


def _kept(pending: Sequence[Change], how: How, chance: Random) -> Sequence[Change]:
    match how:
        case How.NOTHING:
            return ()
        case How.ALL:
            return pending
        case How.PREFIX:
            return _prefix(pending, chance)
        case How.SECTORS:
            return _sectors(pending, SECTOR, chance)
    return _sectors(pending, PAGE, chance)


def _prefix(pending: Sequence[Change], chance: Random) -> list[Change]:
    length = _some(len(pending), chance)
    kept = list(pending[:length])
    if length < len(pending) and isinstance(torn := pending[length], Written) and chance.random() < 0.5:
        pieces = _pieces(torn, SECTOR)
        kept += pieces[: chance.randrange(len(pieces))]
    return kept


def _sectors(pending: Sequence[Change], size: int, chance: Random) -> list[Change]:
    share = chance.choice((0.0, 0.1, 0.5, 0.9, 1.0))  # of what is kept
    kept: list[Change] = []
    for change in pending:
        for piece in _pieces(change, size) if isinstance(change, Written) else [change]:
            if chance.random() < share:
                kept.append(piece)
            elif isinstance(piece, Written) and chance.random() < GARBAGE:
                kept.append(Written(piece.file, piece.offset, chance.randbytes(len(piece.data))))
    return kept


def _pieces(written: Written, size: int) -> list[Written]:
    """One for each sector that it touches."""
    start, end = written.offset, written.offset + len(written.data)
    edges = [start, *range((start // size + 1) * size, end, size), end]
    return [
        Written(written.file, begin, written.data[begin - start : until - start]) for begin, until in pairwise(edges)
    ]


def cases(recording: Recording, seeds: int = 1) -> list[Case]:
    """All images to try: one where everything is synced, otherwise each kind, and those of chance `seeds` times."""
    return [case for case, _ in _cases(recording, seeds)]


def _cases(recording: Recording, seeds: int) -> Iterator[tuple[Case, Operation]]:
    """Without those that are the same as one before: between two syncs and two marks, nothing is one and the same."""
    of_nothing = None
    for number, last, marks, disk in _stops(recording):
        if disk.is_synced:
            yield Case(number, How.ALL), last
            continue
        if (same := (disk.syncs, len(marks))) != of_nothing:
            of_nothing = same
            yield Case(number, How.NOTHING), last
        yield Case(number, How.ALL), last
        for how in (How.PREFIX, How.SECTORS, How.PAGES):
            for seed in range(seeds):
                yield Case(number, how, seed), last


def chosen(recording: Recording, at_most: int, seed: int = 0, seeds: int = 1) -> list[Case]:
    """Some of them, by a seed: of each kind of operation, file and image as many as of the others, if it has them.

    Most operations are writes to the log. An even choice would rarely try the middle of a checkpoint.
    """
    groups: dict[tuple[str, str, str], list[Case]] = {}
    for case, operation in _cases(recording, seeds):
        groups.setdefault((type(operation).__name__, operation.file, case.how), []).append(case)
    for group in groups.values():
        Random(seed).shuffle(group)
    in_turn = (case for row in zip_longest(*groups.values()) for case in row if case is not None)
    return sorted(case for case, _ in zip(in_turn, range(at_most), strict=False))


def points(recording: Recording, wanted: Sequence[Case] | None = None) -> Iterator[CrashPoint]:
    """The images of the wanted cases, or of all, in their order. One that is the same as an earlier one is left out.

    At a point, all marks before the next operation were given: whoever was answered in between must not be deceived.
    """
    by_number: dict[int, list[Case]] = {}
    for case in cases(recording) if wanted is None else wanted:
        by_number.setdefault(case.number, []).append(case)
    seen: set[bytes] = set()
    for number, last, marks, disk in _stops(recording):
        for case in by_number.get(number, ()):
            files = disk.image(case)
            if (digest := _digest(len(marks), files)) not in seen:
                seen.add(digest)
                yield CrashPoint(case, last, tuple(marks), files)


def _stops(recording: Recording) -> Iterator[tuple[int, Operation, list[object], _Disk]]:
    """After each operation, and all marks that follow it."""
    disk, number, last = _Disk(), 0, None
    marks: list[object] = []
    for event in recording.events:
        if isinstance(event, Marked):
            marks.append(event.what)
            continue
        if last is not None:
            yield number, last, marks, disk
        disk.play(event)
        if not isinstance(event, Found):
            number, last = number + 1, event
    if last is not None:
        yield number, last, marks, disk


def _digest(marks: int, files: dict[str, bytes]) -> bytes:
    digest = blake2b(str(marks).encode(), digest_size=16)
    for name, content in sorted(files.items()):
        digest.update(f"{name}:{len(content)}:".encode())
        digest.update(content)
    return digest.digest()
