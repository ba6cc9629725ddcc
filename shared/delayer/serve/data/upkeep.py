"""Looks after the file and its disk, in pauses: log, free pages, what has expired, and what room is left (ADR 0189).

Nothing of it takes longer than some milliseconds. Without pauses it is done all the same, in its smallest steps, before
the file suffers.
"""

import errno
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from enum import Enum, auto
from functools import partial
from typing import Any, Final

from attrs import define, field, frozen

from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.engines.sqlite.database import LOG_KEPT, Broken, Database
from delayer.engines.sqlite.feed import SqliteFeed
from delayer.engines.sqlite.store import SqliteStore
from delayer.http.answers import Response, problem
from delayer.schedule.instants import DAY, MINUTE, SECOND, Millis
from delayer.serve.data.space import Space
from delayer.serve.turns.turn import Turn

PAUSE: Final[Millis] = 100  # nothing else is due for so long
SHORT_PAUSE: Final[Millis] = 20
BUDGET: Final[Millis] = 20  # after that, somebody else has a turn
MEGABYTES: Final = 1024 * 1024
LARGE: Final = 16 * MEGABYTES  # bytes of the log: it is written back, whatever else there is to do
TOO_LARGE: Final = 40 * MEGABYTES  # bytes: a turn may add 20 of them, and 64 are the limit
AGAIN: Final[Millis] = 10 * SECOND  # after a reader has kept the log from being emptied
ROWS: Final = 100  # in one turn
EVENTS_KEPT: Final[Millis] = 7 * DAY
FREE_KEPT: Final = 1_024  # pages: what is deleted makes room for what comes
PAGES: Final = 64  # in one step
# These take no room, or give some back; all others are answered when there is room again.
GROWS: Final = frozenset(
    {
        "api-batch-post",
        "api-connection-put",
        "api-schedule-patch",
        "api-schedule-post",
        "api-schedule-put",
        "api-series-patch",
        "api-series-post",
        "api-series-put",
        "api-series-resume",
        "api-series-run",
    }
)
DISK_SECONDS: Final = 30  # until a client should ask again


def no_room() -> Response:
    """503."""
    detail = (
        "There is too little room on the disk of the data folder, so nothing new is accepted, and nothing was applied. "
        "What was accepted fires, and can be cancelled. Its operators have to make room."
    )
    return problem(503, "disk-nearly-full", "The disk is nearly full", detail, {"Retry-After": str(DISK_SECONDS)})


class Checkpoint(Enum):
    """Says what is done with the log."""

    NONE = auto()
    MOVE = auto()  # what is in it, as far as no reader needs it
    EMPTY = auto()  # wait for readers, too


def checkpoint(log: int, gap: Millis) -> Checkpoint:
    """By the bytes of the log, which has something that was not moved, and how long nothing else is due."""
    if log >= TOO_LARGE:
        return Checkpoint.EMPTY
    is_worth_it = log >= LARGE or (log > LOG_KEPT and gap >= SHORT_PAUSE) or gap >= PAUSE
    return Checkpoint.MOVE if is_worth_it else Checkpoint.NONE


def pages_to_free(free: int, pages: int) -> int:
    """How many pages go back to the disk in one step. A tenth of the file may stay free."""
    return max(0, min(free - max(FREE_KEPT, pages // 10), PAGES))


@frozen(kw_only=True)
class Chore:
    """How often something is done."""

    every: Millis  # after so long at the earliest
    gap: Millis  # that it needs: nothing else is due meanwhile
    latest: Millis  # after so long, without such a gap
    hurry: Millis  # the same while more is known to be left


def is_time(chore: Chore, waited: Millis, gap: Millis, *, has_more: bool) -> bool:
    """`waited` is how long ago it was done last; below 0 if the clock was set back."""
    if waited < 0:
        return True
    every, latest = (0, chore.hurry) if has_more else (chore.every, chore.latest)
    return waited >= latest or (waited >= every and gap >= chore.gap)


EXPIRE: Final = Chore(every=SECOND, gap=SHORT_PAUSE, latest=10 * SECOND, hurry=SECOND // 10)
FORGET: Final = Chore(every=MINUTE, gap=SHORT_PAUSE, latest=10 * MINUTE, hurry=SECOND // 10)
VACUUM: Final = Chore(every=10 * SECOND, gap=PAUSE, latest=DAY, hurry=SECOND)
LOOK: Final = Chore(every=SECOND, gap=0, latest=SECOND, hurry=SECOND)


@define(kw_only=True, eq=False)
class Upkeep:
    """Of one file. The thread that has the turns calls it between two of them."""

    database: Database
    turns: Turn
    stored: SqliteStore
    feed: SqliteFeed
    readers: Callable[[], Collection[str]]  # of the feed: what one of them has not read is kept
    clock: Clock
    observer: Observer
    space: Space
    log_size: Callable[[], int]  # bytes
    restrict: Callable[[bool], None]  # told whether anything new may be accepted
    _done_at: dict[str, Millis] = field(factory=dict, init=False)
    _more: set[str] = field(factory=set, init=False)
    _moved: int = field(default=-1, init=False)  # so many rows were written when all of the log had been moved
    _was_restricted: bool = field(default=False, init=False)
    _kept_from_emptying: Millis = field(default=0, init=False)

    def __attrs_post_init__(self) -> None:
        self.turns.make_room = self.make_room

    def turn(self, gap: Millis) -> None:
        """Does what there is to do, after each turn of the engine. `gap`: nothing is due for so long. Raises Broken."""
        began = self.clock.now()
        self._log(gap)
        for name, chore, do in self._chores():
            spent, now = max(0, self.clock.now() - began), self.clock.now()
            waited = now - self._done_at.setdefault(name, now - chore.every)
            if spent < BUDGET and is_time(chore, waited, gap - spent, has_more=name in self._more):
                self._done_at[name] = now
                (self._more.add if self._tried(name, do) else self._more.discard)(name)

    def _chores(self) -> Sequence[tuple[str, Chore, Callable[[], bool]]]:
        return (
            ("look at the disk", LOOK, self.look),
            ("delete what has expired", EXPIRE, self.expire),
            ("forget old events", FORGET, self.forget),
            ("give pages back to the disk", VACUUM, self.vacuum),
        )

    def _tried(self, name: str, do: Callable[[], bool]) -> bool:
        try:
            return do()
        except Unavailable as error:
            self.observer.warn(f"could not {name}", error=str(error))
        except OSError as error:
            if error.errno == errno.EIO:
                raise Broken(f"could not {name}: {error}") from error
            self.observer.warn(f"could not {name}", error=str(error))
        return False

    # ------------------------------------------------------------ the log

    def _log(self, gap: Millis) -> None:
        if self.database.changes == self._moved:
            return
        match checkpoint(self.log_size(), gap):
            case Checkpoint.MOVE:
                self._tried("write the log back", self._move)
            case Checkpoint.EMPTY if not 0 <= self.clock.now() - self._kept_from_emptying < AGAIN:
                self._tried("empty the log", self._empty)

    def _move(self) -> bool:
        if self.database.checkpoint():
            self._moved = self.database.changes
        return False

    def _empty(self) -> bool:
        if self.database.checkpoint(empties=True):
            self._moved = self.database.changes
        else:
            self._kept_from_emptying = self.clock.now()
            self.observer.warn("a reader keeps the log of the database from being emptied", bytes=self.log_size())
        return False

    # ------------------------------------------------------------ rows and pages

    def expire(self) -> bool:
        """Deletes what has expired, the history among it. Whether there may be more."""
        return self._in_turn(partial(self.stored.expire, self.clock.now() // SECOND, ROWS)) == ROWS

    def forget(self) -> bool:
        """Deletes events that are old, and that all have read. Whether there may be more."""
        before = self.clock.now() - EVENTS_KEPT
        return self._in_turn(lambda: self.feed.forget(before, self.readers(), ROWS)) == ROWS

    def vacuum(self) -> bool:
        """Gives some free pages back to the disk. Whether there are more."""
        if pages := pages_to_free(*self.database.free_pages()):
            self.database.vacuum(pages)
            self._moved = -1  # no row was written, but the log has those pages
        return pages == PAGES

    def _in_turn(self, do: Callable[[], int]) -> int:
        outcomes: list[Any] = []
        self.turns.begin()
        try:
            self.turns.do(do, outcomes.append)
        except BaseException as error:
            self.turns.give_up(error)
            raise
        self.turns.end()
        [outcome] = outcomes
        if isinstance(outcome, Exception):
            raise outcome
        return int(outcome)

    # ------------------------------------------------------------ the disk

    def look(self) -> bool:
        """Whether anything new may be accepted. Raises OSError."""
        try:
            self._restrict(self.space.look())
        except OSError:
            self._restrict(True)
            raise
        return False

    def make_room(self) -> bool:
        """The disk is full. Whether there is more room now."""
        self._restrict(True)
        with suppress(OSError):
            return self.space.release()
        return False

    def _restrict(self, is_restricted: bool) -> None:
        if is_restricted != self._was_restricted:
            self.observer.warn("too little disk: nothing new is accepted" if is_restricted else "enough disk again")
        self._was_restricted = is_restricted
        self.restrict(is_restricted)
