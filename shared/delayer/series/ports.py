"""Series, the transactions that change them (ADR 0094), and what keeps them going without an event (ADR 0100)."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import frozen

from delayer.accept.ports import RequestRow
from delayer.connections.model import SeriesUse
from delayer.engines.ports import Unavailable
from delayer.ledger.model import LedgerChange
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import Bucket, RecordKey
from delayer.series.rules.series import Cursor, Directory, Round, SeriesDefinition
from delayer.series.rules.upkeep import NetPosition


@frozen(kw_only=True)
class SeriesTransaction:
    """All of it is written, or nothing.

    What the cursor says is current is filed by its minute in the same transaction, and what was current is no more. A
    new series is listed by its group, and its name is put. When a series becomes over, or is no longer, its definition
    is in the transaction, too: the list and the name expire with it, or expire no more. So it is when a series that is
    over is kept for longer, but for its name.
    """

    cursor: Cursor
    over: Cursor | None  # what it takes the place of, by its revision; None: only if there is none
    put: tuple[Schedule, ...] = ()  # the occurrences that the cursor names now
    definition: SeriesDefinition | None = None  # if it changes, too
    over_definition: SeriesDefinition | None = None  # what it takes the place of, by its revision
    ends: tuple[LedgerChange, ...] = ()  # of occurrences that are replaced
    delete: tuple[RecordKey, ...] = ()  # their records, whether they are still there or not
    over_name: str = ""  # of a new series with a name: the series that had it; empty: only if none has
    unchanged: Cursor | None = None  # of that series: it is over, and must not be revived meanwhile
    put_request: RequestRow | None = None  # the call that created or changed the series, or put an occurrence
    over_request: RequestRow | None = None  # the expired one that it replaces; None: only if there is none
    uses: tuple[SeriesUse, ...] = ()  # what it says to the connections that it names, or named

    def __attrs_post_init__(self) -> None:
        if self.changes_expiry and self.over and not self.definition:
            raise ValueError("who changes when a series expires writes its definition, too")

    @property
    def is_shown_by_its_cursor(self) -> bool:
        """Whether no other transaction writes the same cursor: a new series, or one that names what this one puts.

        Two changes of a series that is paused write the same one, and so do two redrives of what it names already.
        """
        return self.over is None or bool(self.put)

    @property
    def rewritten(self) -> SeriesDefinition | None:
        """The definition, if it has another revision than the stored one."""
        is_same = self.definition and self.over_definition and self.definition.revision == self.over_definition.revision
        return None if is_same else self.definition

    @property
    def changes_expiry(self) -> bool:
        """Whether the series becomes over, is no longer over, or is over and kept for longer than was said before."""
        return (self.over.expires_at if self.over else 0) != self.cursor.expires_at

    @property
    def changes_name(self) -> bool:
        """Whether the row of its name is written: the series is new, becomes over, or is no longer over.

        What is over has given its name up. Another series may have it now, so it is not kept for longer.
        """
        return self.over is None or bool(self.over.expires_at) != bool(self.cursor.expires_at)


@frozen(kw_only=True, order=True)
class SeriesKey:
    """Names one series."""

    owner: str
    series: str


@frozen(kw_only=True)
class SeriesRows:
    """The rows of a series as they are stored; None for one that is not there."""

    cursor: Cursor | None
    definition: SeriesDefinition | None


@frozen(kw_only=True)
class Filed:
    """An occurrence that is the current one of its series, or of the backfill of it."""

    schedule_id: str
    owner: str
    series: str

    @property
    def key(self) -> SeriesKey:
        """Of its series."""
        return SeriesKey(owner=self.owner, series=self.series)


@frozen(kw_only=True)
class FiledPage:
    """Of one minute and shard, in the order of the instants."""

    filed: tuple[Filed, ...]
    unread: tuple[str, ...] = ()  # the entries among them that this version cannot read
    more: str = ""  # the entry after which the next page begins; empty: this was the last


@frozen(kw_only=True)
class SeriesEntry:
    """One series of a list."""

    group: str  # empty: it is in none
    series: str


@frozen(kw_only=True)
class SeriesPage:
    """Of the series of an owner: by group, and within a group by id."""

    entries: tuple[SeriesEntry, ...]
    more: SeriesEntry | None = None  # after which the next page begins; None: this was the last


class SeriesTable(Protocol):
    """Keeps series: their cursors and definitions, their names, and whose current occurrence a schedule is."""

    def cursor(self, owner: str, series: str) -> Cursor | None:
        """Strongly consistent. Raises Unavailable, also if it cannot be read by this version."""
        ...

    def definition(self, owner: str, series: str) -> SeriesDefinition | None:
        """As `cursor`."""
        ...

    def named(self, owner: str, name: str) -> str:
        """The id of the series that has the name, or had it last; empty: none.

        Strongly consistent. Raises Unavailable.
        """
        ...

    def listed(self, owner: str, group: str | None, after: SeriesEntry | None, at_most: int) -> SeriesPage:
        """Lists the series of a group, or all. Strongly consistent. Raises Unavailable."""
        ...

    def cursors(self, owner: str, series: Sequence[str]) -> Mapping[str, Cursor]:
        """Returns the cursors that are there. Strongly consistent. Raises Unavailable."""
        ...

    def definitions(self, owner: str, series: Sequence[str]) -> Mapping[str, SeriesDefinition]:
        """As `cursors`."""
        ...

    def live(self, owner: str, at_most: int) -> int:
        """How many series of an owner are not over; so many or more, if there are more. Raises Unavailable."""
        ...

    def filed(self, schedule_id: str) -> Filed | None:
        """Finds the series whose current occurrence it is, or None. Strongly consistent. Raises Unavailable."""
        ...

    def filed_all(self, schedule_ids: Sequence[str]) -> Mapping[str, Filed | Unavailable]:
        """As `filed`, for each of them, in one read; what is no current occurrence is left out.

        An answer that is missing, or cannot be read, makes that one Unavailable alone. Strongly consistent.
        """
        ...

    def both(self, series: Sequence[SeriesKey]) -> Mapping[SeriesKey, SeriesRows | Unavailable]:
        """Returns the cursor and the definition of each, in one read. None may come twice.

        An answer that is missing, or cannot be read, makes that one Unavailable alone. Strongly consistent, but not at
        one moment: the two may be from both sides of a PATCH.
        """
        ...

    def page(self, bucket: Bucket, after: str = "", at_most: int = 100) -> FiledPage:
        """Lists what is filed in a minute and a shard. Strongly consistent. Raises Unavailable."""
        ...

    def create(self, transaction: SeriesTransaction) -> bool:
        """As `write`, of a series that is new: nothing is deleted, and nothing ends."""
        ...

    def note(self, transaction: SeriesTransaction) -> bool:
        """As `write`, of a cursor that names the same as before: nothing is put, deleted or ended."""
        ...

    def step(self, transaction: SeriesTransaction) -> bool:
        """As `write`, of a series that puts occurrences: none of its schedules is deleted, and none ends."""
        ...

    def write(self, transaction: SeriesTransaction) -> bool:
        """Whether it was done; False: something has changed meanwhile, and nothing was written. Raises Unavailable.

        A transaction repeated because its answer was lost finds its own cursor, and is done. Unavailable is raised also
        if a connection that it names was closed or deleted since it was read.
        """
        ...


def named_by(cursor: Cursor | None) -> Sequence[str]:
    """The ids that are filed for a cursor: those after which it steps."""
    if cursor is None:
        return ()
    filled = cursor.backfill.current if cursor.backfill else ""
    return tuple(one for one in (cursor.current, filled) if one)


def check_noted(transaction: SeriesTransaction) -> None:
    """Raises ValueError if it is more than a cursor: `note` may do no more than it must."""
    check_stepped(transaction)
    is_filed_anew = named_by(transaction.over) != named_by(transaction.cursor)
    if transaction.over is None or transaction.put or transaction.put_request or is_filed_anew:
        raise ValueError("a series that puts something is written by `step`")


def check_stepped(transaction: SeriesTransaction) -> None:
    """Raises ValueError if it deletes or ends something: `step` may do no more than it must."""
    if transaction.delete or transaction.ends:
        raise ValueError("a series whose occurrence ends is written by `write`")


def check_new(transaction: SeriesTransaction) -> None:
    """Raises ValueError if it is not of a new series: `create` may do no more than it must."""
    if transaction.over or transaction.delete or transaction.ends:
        raise ValueError("a series that is there already is written by `write`")


@frozen(kw_only=True)
class SeriesKeys:
    """A page of a directory."""

    keys: tuple[SeriesKey, ...]
    more: str = ""  # where the next page begins; empty: this was the last


class SeriesUpkeep(Protocol):
    """Finds the series that must be looked at without an event."""

    def look_again(self, filed: Filed, bucket: Bucket) -> None:
        """Files it in this minute, too. Raises Unavailable."""
        ...

    def forget(self, filed: Filed, bucket: Bucket) -> None:
        """Takes something out of the file of this minute; does nothing if it was not there. Raises Unavailable."""
        ...

    def carry(self, entry: str, bucket: Bucket, to: Bucket) -> None:
        """Files an entry that cannot be read in another minute, as it is. At its own address it stays, too.

        Nothing if it is not there any more. Raises Unavailable.
        """
        ...

    def listed(self, directory: Directory, part: int, after: str = "", at_most: int = 100) -> SeriesKeys:
        """A page of a part of a directory. Raises Unavailable."""
        ...


class SeriesProgress(Protocol):
    """Keeps how far the net and the rounds came: the control rows `series-net`, `series-waiting` and `series-zoned`."""

    def place(self) -> NetPosition | None:
        """How far the net came; None before the first time. Raises Unavailable."""
        ...

    def reach(self, place: NetPosition) -> None:
        """Forward only. Raises Unavailable."""
        ...

    def round(self, directory: Directory) -> Round | None:
        """The last one. Raises Unavailable."""
        ...

    def note(self, directory: Directory, current: Round) -> None:
        """Writes it. Raises Unavailable."""
        ...
