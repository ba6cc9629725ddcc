"""What keeps series going without an event: the lists of the net, the directories, and how far each was gone through
(ADR 0100).
"""

from typing import Protocol

from attrs import frozen

from delayer.core.schedule.bucket import Bucket
from delayer.core.series.upkeep.net import Place
from delayer.core.series.upkeep.rounds import Directory, Round
from delayer.ports.series import Filed


@frozen(kw_only=True, order=True)
class SeriesKey:
    """Names one series."""

    owner: str
    series: str


@frozen(kw_only=True)
class SeriesKeys:
    """A page of a directory."""

    keys: tuple[SeriesKey, ...]
    more: str = ""  # where the next page begins; empty: this was the last


class FilesAgain(Protocol):
    """Part of SeriesUpkeep."""

    def look_again(self, filed: Filed, bucket: Bucket) -> None:
        """Files it in this minute, too. Raises Unavailable."""
        ...

    def forget(self, filed: Filed, bucket: Bucket) -> None:
        """It is not filed in this minute any more; nothing if it was not. Raises Unavailable."""
        ...

    def carry(self, entry: str, bucket: Bucket, to: Bucket) -> None:
        """Files an entry that cannot be read in another minute, as it is. At its own address it stays, too.

        Nothing if it is not there any more. Raises Unavailable.
        """
        ...


class ListsSeries(Protocol):
    """Part of SeriesUpkeep."""

    def listed(self, directory: Directory, part: int, after: str = "", at_most: int = 100) -> SeriesKeys:
        """A page of a part of a directory. Raises Unavailable."""
        ...


class SeriesUpkeep(FilesAgain, ListsSeries, Protocol):
    """All of it."""


class TracksNet(Protocol):
    """Part of SeriesProgress."""

    def place(self) -> Place | None:
        """How far the net came; None before the first time. Raises Unavailable."""
        ...

    def reach(self, place: Place) -> None:
        """Forward only. Raises Unavailable."""
        ...


class TracksRounds(Protocol):
    """Part of SeriesProgress."""

    def round(self, directory: Directory) -> Round | None:
        """The last one. Raises Unavailable."""
        ...

    def note(self, directory: Directory, current: Round) -> None:
        """Writes it. Raises Unavailable."""
        ...


class SeriesProgress(TracksNet, TracksRounds, Protocol):
    """The control rows `series-net`, `series-waiting` and `series-zoned`."""
