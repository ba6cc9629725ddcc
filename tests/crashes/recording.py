"""The operations that a program asked of its disk, in order, and what it told the world between them."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from attrs import frozen


@frozen
class Found:
    """A file was there, whole, before the recording began."""

    file: str
    content: bytes


@frozen
class Created:
    """A file is there, empty. Until its folder is synced, a power cut may take it away again."""

    file: str


@frozen
class Written:
    """Bytes were written at an offset."""

    file: str
    offset: int
    data: bytes


@frozen
class Truncated:
    """A file was cut, or made longer by zeros."""

    file: str
    size: int


@frozen
class Synced:
    """All that was written to a file is on the disk. `flags` are SQLite's SQLITE_SYNC_*."""

    file: str
    flags: int


@frozen
class Deleted:
    """A file is gone. Until its folder is synced, a power cut may bring it back."""

    file: str


@frozen
class FolderSynced:
    """All files that were created and deleted stay so. `file` is that of the call that synced the folder, too."""

    file: str


@frozen
class Marked:
    """The program told the world something: it answered a call, or began an attempt. The disk knows nothing of it."""

    what: object


Operation: TypeAlias = Created | Written | Truncated | Synced | Deleted | FolderSynced
Event: TypeAlias = Found | Operation | Marked


@frozen
class Recording:
    """All events, in their order. It can be pickled if its marks can."""

    events: tuple[Event, ...]

    @property
    def operations(self) -> Sequence[Operation]:
        return [one for one in self.events if not isinstance(one, Found | Marked)]

    @property
    def marks(self) -> Sequence[object]:
        return [one.what for one in self.events if isinstance(one, Marked)]

    def without(self, left_out: Callable[[Operation], bool]) -> "Recording":
        """As if the program had not asked for some operations: a deliberate bug, made after the play."""
        return Recording(
            tuple(one for one in self.events if isinstance(one, Found | Marked) or not left_out(one)),
        )

    def without_syncs_of(self, ending: str) -> "Recording":
        """Without those of the files whose name ends so: `-wal` is the log, `.sqlite` may be the database."""
        return self.without(lambda one: isinstance(one, Synced | FolderSynced) and one.file.endswith(ending))
