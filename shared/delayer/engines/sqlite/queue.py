"""Queues in a file of SQLite. A message is a row until it is done with; a delay may be as long as it likes."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, Final

from attrs import define, field

from delayer.engines.ports import Clock, Outgoing, ReceivedMessage
from delayer.engines.sqlite.database import Database, for_all, in_one_row
from delayer.schedule.instants import MINUTE, SECOND, Millis

LAYOUT: Final = """
    CREATE TABLE messages (
        number INTEGER PRIMARY KEY,
        queue TEXT NOT NULL,
        visible_at INTEGER NOT NULL,
        sent_at INTEGER NOT NULL,
        tries INTEGER NOT NULL,
        message_group TEXT NOT NULL,
        once TEXT NOT NULL,
        body TEXT NOT NULL
    );
    CREATE INDEX messages_by_time ON messages (queue, visible_at, number);
    CREATE UNIQUE INDEX messages_once ON messages (queue, once) WHERE once <> '';
"""
# One of those that are `once` the same.
SEND: Final = """
    INSERT INTO messages VALUES {} ON CONFLICT (queue, once) WHERE once <> '' DO NOTHING
"""
READY: Final = in_one_row(
    "number, sent_at, tries, message_group, hex(body)",
    """
    SELECT number, sent_at, tries, message_group, body FROM messages
    WHERE queue = ? AND visible_at <= ? AND number NOT IN (SELECT value FROM json_each(?))
    ORDER BY visible_at, number LIMIT ?
    """,
    "length(body)",
)
FIRST: Final = """
    SELECT number, visible_at, message_group FROM messages
    WHERE queue = ? AND number NOT IN (SELECT value FROM json_each(?)) ORDER BY visible_at, number LIMIT ?
"""
BYTES: Final = 1_000_000  # of bodies that are received at a time
ALL: Final = -1  # of a FIFO queue: any number of those at the front may be of a group that is out
ONE: Final = "SELECT sent_at, tries, message_group, body, visible_at FROM messages WHERE number = ?"
DELETE: Final = "DELETE FROM messages WHERE number IN (SELECT value FROM json_each(?))"
AGAIN: Final = "UPDATE messages SET visible_at = ?, tries = tries + 1 WHERE number = ?"
SHOW: Final = "UPDATE messages SET visible_at = ? WHERE number = ?"
LONGEST_PAUSE: Final[Millis] = 5 * MINUTE


def pause_after(tries: int) -> Millis:
    """Until a message comes again that could not be handled: a second, then twice as long each time."""
    return min(SECOND << min(tries, 10), LONGEST_PAUSE)


@define(kw_only=True)
class Numbers:
    """Numbers of messages and changes, each greater than all before it, also if the clock was set back.

    `_last` is the greatest that is on the disk: of a life of the process before this one.
    """

    clock: Clock
    _last: int = 0

    def __call__(self) -> int:
        self._last = max(self._last + 1, self.clock.now() * 1_000)
        return self._last


@define(kw_only=True, eq=False)
class SqliteQueue:
    """Port Queue, and its consumer's side. Who has received a message has it until it says what became of it."""

    database: Database
    clock: Clock
    numbers: Callable[[], int] = field(factory=lambda: count(1).__next__)
    name: str = "queue"
    fifo: bool = False  # of a message group, one is out at a time
    sent: Callable[[Sequence[Outgoing]], None] = lambda _: None  # somebody may wait for it
    out: dict[int, str] = field(factory=dict, init=False)  # with their consumers, and their groups
    _next: Millis | None = field(default=0, init=False)  # when the next can be received; None: never; 0: ask

    def __attrs_post_init__(self) -> None:
        self.database.undone.append(self._ask)

    def _ask(self) -> None:
        self._next = 0

    def send(self, messages: Sequence[Outgoing], visible_at: Millis = 0) -> list[int]:
        """As the port. None of them is visible before `visible_at`."""
        now = self.clock.now()
        with self.database.writing() as connection:  # one thread at a time: no number is given twice
            rows = [
                (
                    *(self.numbers(), self.name, max(now + one.delay_seconds * SECOND, visible_at), now, 0),
                    *(one.message_group, one.once, one.body),
                )
                for one in messages
            ]
            for_all(connection, SEND, rows)
            self.database.bytes_written += sum(len(one.body) for one in messages)
        self._next = 0
        self.sent(messages)
        return []

    def receive(self, at_most: int = 10) -> list[ReceivedMessage]:
        """Those that have been visible for the longest time."""
        now = self.clock.now()
        if (following := self.next_visible()) is None or following > now:
            return []
        limits = (sys.maxsize, ALL) if self.fifo else (BYTES, at_most)
        rows = self.database.read_one_row(READY, (limits[0], self.name, now, str([*self.out]), limits[1]))
        received: list[ReceivedMessage] = []
        for number, sent_at, tries, group, body in rows:
            if self._is_out(number, group) or len(received) == at_most:
                continue
            self.out[number] = group
            text = bytes.fromhex(body).decode(errors="backslashreplace")  # if it is damaged, it alone cannot be read
            received.append(self._received(number, sent_at, tries, text))
        self._next = 0
        return received

    def _is_out(self, number: int, group: str) -> bool:
        return number in self.out or (self.fifo and group in self.out.values())

    def keep(self, number: int) -> Millis | None:
        """One that nobody receives, until somebody takes it. When it is visible; None if it is not there."""
        with self.database.reading() as connection:
            found = connection.execute(ONE, (number,)).fetchone()
        if found is None:
            return None
        self.out[number] = found[2]
        self._next = 0
        return int(found[4])

    def take(self, number: int) -> ReceivedMessage | None:
        """One that is kept; None if it is not there."""
        with self.database.reading() as connection:
            found = connection.execute(ONE, (number,)).fetchone()
        if found is None:
            self.out.pop(number, None)
            return None
        sent_at, tries, group, body, _ = found
        self.out[number] = group
        return self._received(number, sent_at, tries, body)

    def pull(self, at_most: int) -> list[ReceivedMessage]:
        return self.receive(min(at_most, 10))

    def delete(self, received: ReceivedMessage) -> None:
        self.settle([received], [])

    def settle(self, batch: Sequence[ReceivedMessage], failed: Sequence[str]) -> None:
        """Is done with what has not failed. What has comes again, later each time."""
        now = self.clock.now()
        left = set(failed)
        done = [one.message_id for one in batch if one.message_id not in left]
        again = [(now + pause_after(one.receives - 1), int(one.message_id)) for one in batch if one.message_id in left]
        with self.database.writing() as connection:
            connection.execute(DELETE, (f"[{','.join(done)}]",))
            connection.executemany(AGAIN, again)
            self.database.when_written(partial(self.forget, batch))

    def put_off(self, batch: Sequence[ReceivedMessage], until: Millis) -> None:
        """They are visible again then, and as if nobody had received them."""
        with self.database.writing() as connection:
            connection.executemany(SHOW, [(until, int(one.message_id)) for one in batch])
            self.database.when_written(partial(self.forget, batch))

    def give_back(self, messages: Sequence[ReceivedMessage], seconds: int = 0) -> None:
        until = self.clock.now() + seconds * SECOND
        with self.database.writing() as connection:
            connection.executemany(AGAIN, [(until, int(one.message_id)) for one in messages])
            self.database.when_written(partial(self.forget, messages))

    def forget(self, batch: Sequence[ReceivedMessage]) -> None:
        """Nobody has them any more."""
        for one in batch:
            self.out.pop(int(one.message_id), None)
        self._next = 0

    def next_visible(self) -> Millis | None:
        """When the next message can be received."""
        if self._next == 0:
            with self.database.reading() as connection:
                limit = ALL if self.fifo else 1
                rows = connection.execute(FIRST, (self.name, str([*self.out]), limit)).fetchall()
            self._next = next((at for number, at, group in rows if not self._is_out(number, group)), None)
        return self._next

    def visible(self) -> int:
        out = ", ".join(map(str, self.out))
        return self._count(f"visible_at <= ? AND number NOT IN ({out})")

    def delayed(self) -> int:
        return self._count("visible_at > ?")

    @property
    def messages(self) -> range:
        """As many as are in it."""
        return range(self._count("number > ?", 0))

    def _count(self, when: str, value: Any = None) -> int:
        with self.database.reading() as connection:
            select = f"SELECT count(*) FROM messages WHERE queue = ? AND {when}"  # noqa: S608 - our words
            found = connection.execute(select, (self.name, self.clock.now() if value is None else value)).fetchone()
        return int(found[0])

    def _received(self, number: int, sent_at: Millis, tries: int, body: str) -> ReceivedMessage:
        key = str(number)
        return ReceivedMessage(
            message_id=key, body=body, source=self.name, sent_at=sent_at, receives=tries + 1, receipt=key
        )
