"""Many things with one commit: each all or nothing, and answered when it is on the disk (ADR 0185).

Nothing that a turn does is heard by anybody before its commit: neither a client, nor a target, nor the rest of this
process. If the commit fails, nothing of it ever was, and all who wait are told that.
"""

import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from attrs import define, field, frozen

from delayer.engines.ports import Unavailable
from delayer.engines.sqlite.database import Database, DiskFull, Unwritten
from delayer.serve.turns.parts import NotYet

# What one part of a turn may write: what comes later waits for it, and SQLite's log grows by it.
ROWS: Final = 600  # some 20 ms
BYTES: Final = 1_000_000  # of texts
Do = Callable[[], Any]
Deliver = Callable[[Any], None]


@frozen(kw_only=True, eq=False)
class TurnJob:
    """Something to do in a turn for whoever waits: `deliver` gets what it has returned or raised."""

    do: Do
    deliver: Deliver
    function: str = ""  # it is none of the API's


@define(kw_only=True, eq=False)
class Turn:
    """One after the other, all of the same thread."""

    database: Database
    make_room: Callable[[], bool] = lambda: False  # whether there is more room on the disk now
    can_write: bool = field(default=True, init=False)  # the last commit has succeeded
    _rows: int = field(default=0, init=False)  # that were written before this part of the turn
    _bytes: int = field(default=0, init=False)
    _held: list[tuple[Do, Deliver, Any]] = field(factory=list, init=False)  # answers that wait for the commit

    def begin(self) -> None:
        """A turn. If the last one could not be written, this one finds out whether it can be again."""
        self.database.begin()
        self.begin_part()
        if not self.can_write:
            with suppress(Unavailable):
                self.database.probe()

    def begin_part(self) -> None:
        """The next part of the turn, which has a share of its own."""
        self._rows, self._bytes = self.database.changes, self.database.bytes_written

    @property
    def is_spent(self) -> bool:
        """Whether this part has written its share: what it has left is for the next turn."""
        written = self.database.bytes_written - self._bytes
        return self.database.changes - self._rows >= ROWS or written >= BYTES

    def do(self, do: Do, deliver: Deliver) -> bool:
        """Does one thing. What it returns or raises is delivered when it is on the disk; at once, if nothing is to be.

        What it raises undoes it, and nothing else; but if nothing can be written, nothing of the whole turn is. If it
        would have to wait, it is undone, too, and Unavailable: nothing may wait here, and nobody may end the turns.
        Returns whether it has raised nothing.
        """
        outcome = self._outcome(do)
        if self.database.is_dirty:
            self._held.append((do, deliver, outcome))
        else:
            deliver(outcome)
        return not isinstance(outcome, Exception)

    def _outcome(self, do: Do) -> Any:
        try:
            with self.database.writing():
                return do()
        except NotYet:
            return Unavailable("it would have to wait")
        except SystemExit:  # of code that others have written
            return Unavailable("it would have ended the process")
        except Exception as error:  # noqa: BLE001 - it concerns whoever waits for it
            return error

    def end(self) -> bool:
        """Commits, and delivers. Whether anything was written. If the disk is full, all is done again with more room.

        Raises Broken, and nobody is answered.
        """
        was_dirty = self.database.is_dirty
        failed = self._commit()
        if isinstance(failed, DiskFull) and self.make_room():
            held, self._held = self._held, []
            self.begin()
            for do, deliver, _ in held:
                self.do(do, deliver)
            failed = self._commit()
        self.can_write = failed is None
        held, self._held = self._held, []
        whatever_one_raises(partial(deliver, failed or outcome) for _, deliver, outcome in held)
        return was_dirty

    def _commit(self) -> Unwritten | None:
        try:
            self.database.commit()
        except Unwritten as error:
            return error
        return None

    def give_up(self, error: BaseException) -> None:
        """Something was raised: nothing of the turn ever was. If it ends the process, nobody is told."""
        held, self._held = self._held, []
        self.database.rollback()
        if isinstance(error, Exception):
            whatever_one_raises(partial(deliver, Unwritten("the turn was given up")) for _, deliver, _ in held)


def whatever_one_raises(all_of_them: Iterable[Callable[[], object]]) -> None:
    """Does each of them. Raises at the end what the first one that did has raised."""
    raised: list[Exception] = []
    for do in all_of_them:
        try:
            do()
        except Exception as error:  # noqa: BLE001 - it is raised at the end
            raised.append(error)
    if raised:
        raise raised[0]


def facts_of(error: BaseException) -> dict[str, object]:
    """For a log. Of what nobody expected, its type and its place: its text may hold what a client sent (ADR 0067)."""
    if isinstance(error, Unwritten):
        return {"error": f"{type(error).__name__}: {error}"}
    return {"error": type(error).__name__, "where": traceback.format_tb(error.__traceback__)}
