"""Each life of the engine on a folder has a number; what lives may have died with is attempted with care (ADR 0190).

Nothing is written per attempt while all goes well. After a life that has not ended by itself, the messages that were
visible may have been under way: each is noted before its attempt begins, so that the next death tells which ones they
were. With which two lives may have died is a suspect: it is attempted while nothing else is, in a child process. Only
what kills its child three times is given up: a power cut makes suspects, and condemns none of them.
"""

from collections.abc import Callable, Sequence
from enum import Enum, auto
from typing import Final

from attrs import define, evolve, field, fields, frozen

from delayer.actions.rules.model import Result
from delayer.engines.ports import Clock, ReceivedMessage, Unavailable
from delayer.engines.sqlite.database import Database
from delayer.engines.sqlite.queue import SqliteQueue
from delayer.execute.desk import Course, SharedRequest
from delayer.execute.execute import Execute, Held
from delayer.ledger.model import LedgerRow
from delayer.schedule.instants import MINUTE, SECOND, Malformed, Millis
from delayer.schedule.messages import ExecutorMessage

LAYOUT: Final = """
    CREATE TABLE lives (number INTEGER PRIMARY KEY, began_at INTEGER NOT NULL, ended_at INTEGER);
    CREATE TABLE notes (message INTEGER PRIMARY KEY, life INTEGER NOT NULL, lives INTEGER NOT NULL);
"""
SUSPECT: Final = 2  # lives that may have died with it
KILLS: Final = 3  # of its child, after which it is given up
KEPT: Final = 100  # lives
PAUSE: Final[Millis] = 5 * SECOND  # after a life has died with a suspect alone; twice as long each time
LONGEST: Final[Millis] = MINUTE

LAST: Final = "SELECT number, ended_at FROM lives ORDER BY number DESC LIMIT 1"
BEGIN: Final = "INSERT INTO lives VALUES (?, ?, NULL)"
END: Final = "UPDATE lives SET ended_at = ? WHERE number = ?"
FORGET_LIVES: Final = "DELETE FROM lives WHERE number <= ?"
DIED: Final = "UPDATE notes SET lives = lives + 1 WHERE life = ?"
FORGET_NOTES: Final = "DELETE FROM notes WHERE message NOT IN (SELECT number FROM messages)"
NOTES: Final = "SELECT message, life, lives FROM notes"
NOTE: Final = "INSERT INTO notes VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET life = excluded.life"
ENDED: Final = "UPDATE notes SET life = 0 WHERE message = ?"
FORGET: Final = "DELETE FROM notes WHERE message = ?"
SUSPECTS: Final = """
    SELECT queue, number, visible_at FROM messages JOIN notes ON message = number WHERE lives >= ? ORDER BY visible_at
"""


# ------------------------------------------------------------ the rules


@frozen(kw_only=True)
class LifeNote:
    """The note on a message whose attempt was begun."""

    life: int  # in which it was begun last
    lives: int  # that may have died with it


class Care(Enum):
    """How a message is attempted."""

    NONE = auto()  # as all are
    NOTED = auto()  # the note is on the disk before the attempt begins
    ALONE = auto()  # and nothing else is attempted, and a child process makes it


def care_for(note: LifeNote | None, *, was_there: bool) -> Care:
    """`was_there`: it could be received when this life began, after one that did not end by itself."""
    if note is not None and note.lives >= SUSPECT:
        return Care.ALONE
    return Care.NOTED if note is not None or was_there else Care.NONE


def noted(note: LifeNote | None, life: int) -> LifeNote:
    """The note before its attempt. The life before may have died with what has no note."""
    return LifeNote(life=life, lives=note.lives if note else 1)


def after_death(note: LifeNote, life: int) -> LifeNote:
    """When a life has not ended by itself."""
    return evolve(note, lives=note.lives + 1) if note.life == life else note


def pause_before(lives: int) -> Millis:
    """Before a suspect is attempted. Nothing else gets a turn meanwhile, so the others come first if a life has died
    with it alone.
    """
    return 0 if lives <= SUSPECT else min(PAUSE << min(lives - SUSPECT - 1, 10), LONGEST)


class Whose(Enum):
    """Says who may begin."""

    ALL = auto()  # but suspects
    NOBODY = auto()  # until what is under way has ended
    SUSPECT = auto()


def whose_turn(*, is_due: bool, is_alone: bool, under_way: int) -> Whose:
    """`is_due`: a suspect is. `is_alone`: one is under way."""
    if is_alone and under_way:
        return Whose.NOBODY
    if not is_due:
        return Whose.ALL
    return Whose.NOBODY if under_way else Whose.SUSPECT


@frozen
class ChildDied:
    """A child has ended without a result."""

    how: str


def judged(run: Callable[[], Result | ChildDied]) -> Result:
    """The outcome of an attempt that is made in a child process. Raises Malformed if it has killed its child each time.

    What `run` raises is no proof against it: the child could not begin, or somebody has ended it.
    """
    how = ""
    for _ in range(KILLS):
        outcome = run()
        if not isinstance(outcome, ChildDied):
            return outcome
        how = outcome.how
    raise Malformed(f"its attempt has ended its process {KILLS} times, in which nothing else was done: {how}")


# ------------------------------------------------------------ what acts


Alone = Callable[[str, ExecutorMessage, float], Result]  # action, message, seconds. Raises NotAttempted, Malformed


@frozen
class NoteDown:
    """Asks that a message be noted before its attempt begins."""

    received: ReceivedMessage


@frozen(kw_only=True)
class NotedExecute(Execute):
    """An attempt that begins when it is on the disk that it does."""

    alone: Alone | None = None
    kind: str = ""

    def attempt(self, held: Held, row: LedgerRow) -> Course:
        """As Execute."""
        yield NoteDown(held.received)
        return (yield from Execute.attempt(self, held, row))


@frozen(kw_only=True)
class AloneExecute(NotedExecute):
    """An attempt in a child process. It ends by itself: the child is ended when it takes too long."""

    longest: float = 0  # seconds

    def reach(self, message: ExecutorMessage) -> Result:
        """As Execute. Raises Malformed, too: then it becomes a dead letter."""
        if self.alone is None:
            return Execute.reach(self, message)
        return self.alone(self.kind, message, self.longest)


def with_care(execute: Execute, care: Care, kind: str, alone: Alone | None) -> Execute:
    """The same use case, for one message."""
    if care is Care.NONE:
        return execute
    own = {str(one.alias): getattr(execute, one.name) for one in fields(Execute) if one.init}
    if care is Care.NOTED:
        return NotedExecute(**own, kind=kind, alone=alone)
    return AloneExecute(**{**own, "seconds": 0}, kind=kind, alone=alone, longest=execute.seconds)


@frozen(kw_only=True, eq=False)
class Suspect:
    """A message that waits to be attempted alone."""

    queue: str
    number: int
    at: Millis


@define(kw_only=True, eq=False)
class Lives:
    """Numbers the lives of the engine on its folder, and knows with which messages they may have died."""

    database: Database
    clock: Clock
    number: int = field(default=0, init=False)  # of this life
    suspects: list[Suspect] = field(factory=list, init=False)
    _notes: dict[int, LifeNote] = field(factory=dict, init=False)
    _until: int = field(default=0, init=False)  # number and instant of what may have been under way, if not noted
    _began_at: Millis = field(default=0, init=False)
    _alone: Suspect | None = field(default=None, init=False)  # that is under way
    is_holding: bool = field(default=False, init=False)  # nothing else begins
    _since: Millis = field(default=0, init=False)  # it does
    _free_until: Millis = field(default=0, init=False)  # from suspects

    def begin(self) -> int:
        """As the port. It is called before anything else is done with the database. Raises Unavailable."""
        now = self._began_at = self.clock.now()
        with self.database.writing() as connection:
            last, ended_at = connection.execute(LAST).fetchone() or (0, 0)
            self.number = last + 1
            connection.execute(BEGIN, (self.number, now))
            connection.execute(FORGET_LIVES, (self.number - KEPT,))
            connection.execute(FORGET_NOTES)
            if ended_at is None:
                connection.execute(DIED, (last,))
                [self._until] = connection.execute("SELECT coalesce(max(number), 0) FROM messages").fetchone()
            self._notes = {
                message: LifeNote(life=life, lives=lives) for message, life, lives in connection.execute(NOTES)
            }
            found = connection.execute(SUSPECTS, (SUSPECT,)).fetchall()
        self.suspects = [
            Suspect(queue=queue, number=number, at=max(at, now + pause_before(self._notes[number].lives)))
            for queue, number, at in found
        ]
        return self.number

    def end(self) -> None:
        """This life ends by itself: nothing is under way any more. Raises Unavailable."""
        self.database.write(END, (self.clock.now(), self.number))

    # ------------------------------------------------------------ who may begin

    def whose_turn(self, under_way: int) -> Whose:
        """`under_way`: so many attempts are, or are about to be. Suspects have half of the time, at most."""
        if not self.suspects and not self._alone:
            self.is_holding = False
            return Whose.ALL
        now = self.clock.now()
        if self._alone and not under_way:
            self._alone, self._free_until = None, now + min(max(0, now - self._since), LONGEST)
            self.is_holding = False
        following = self.next_at()
        is_due = following is not None and following <= now
        whose = whose_turn(is_due=is_due, is_alone=self._alone is not None, under_way=under_way)
        was_holding, self.is_holding = self.is_holding, whose is not Whose.ALL
        if self.is_holding and not was_holding:
            self._since = now
        return whose

    def next_at(self) -> Millis | None:
        """When the next suspect may be attempted."""
        self.suspects.sort(key=lambda one: one.at)
        return max(self.suspects[0].at, self._free_until) if self.suspects else None

    def take(self, queue_of: Callable[[str], SqliteQueue]) -> tuple[str, ReceivedMessage] | None:
        """The next suspect, with the name of its queue; None if it is not there any more."""
        one = self.suspects[0]
        received = queue_of(one.queue).take(one.number)
        self.suspects.remove(one)
        if received is None:
            return None
        self._alone = one
        return one.queue, received

    # ------------------------------------------------------------ one message

    def care_for(self, received: ReceivedMessage) -> Care:
        """How it is attempted."""
        number = int(received.message_id)
        note = self._notes.get(number)
        return care_for(note, was_there=note is None and number <= self._until and self._was_visible(number))

    def _was_visible(self, number: int) -> bool:
        try:
            found = self.database.read("SELECT visible_at FROM messages WHERE number = ?", (number,))
        except Unavailable:
            return True
        return bool(found) and found[0][0] <= self._began_at

    def requests(self) -> dict[type, SharedRequest]:
        """The requests that courses make here, beside those that they make anyhow."""
        return {NoteDown: SharedRequest(do=self._note)}

    def _note(self, asked: Sequence[NoteDown]) -> Sequence[None]:
        """In the turn of whoever leads: the answer comes when it is on the disk."""
        for one in asked:
            number = int(one.received.message_id)
            note = self._notes[number] = noted(self._notes.get(number), self.number)
            self.database.write(NOTE, (number, note.life, note.lives))
        return [None] * len(asked)

    def over(self, received: ReceivedMessage, *, is_done: bool) -> None:
        """In the transaction that says what became of its message: this life did not die with it."""
        number = int(received.message_id)
        if note := self._notes.get(number):
            self.database.write(FORGET if is_done or note.lives < SUSPECT else ENDED, (number,))

    def is_over(self, received: ReceivedMessage, queue: SqliteQueue, *, is_done: bool) -> None:
        """When that is on the disk. A suspect that is to come again comes alone."""
        number = int(received.message_id)
        note = self._notes.get(number)
        if note is None:
            return
        if is_done or note.lives < SUSPECT:
            del self._notes[number]
        elif (at := queue.keep(number)) is not None:
            self._notes[number] = evolve(note, life=0)
            self.suspects.append(Suspect(queue=queue.name, number=number, at=at))

    def hold_all(self, queue_of: Callable[[str], SqliteQueue]) -> None:
        """When the queues are there."""
        for one in self.suspects:
            queue_of(one.queue).keep(one.number)


def described(status: int) -> str:
    """How a process has ended, by its status as `subprocess` tells it."""
    return f"signal {-status}" if status < 0 else f"exit status {status}"
