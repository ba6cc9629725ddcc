"""Nothing in memory changes before the commit: who has received a message has it until that is on the disk."""

from collections.abc import Callable, Sequence
from contextlib import suppress

import pytest

from delayer.engines.memory import ManualClock
from delayer.engines.ports import Outgoing, ReceivedMessage
from delayer.engines.sqlite.database import Database, Unwritten
from delayer.engines.sqlite.queue import LAYOUT, SqliteQueue
from delayer.schedule.instants import MINUTE

ENDS = {
    "done": lambda queue, batch: queue.settle(batch, []),
    "failed": lambda queue, batch: queue.settle(batch, [one.message_id for one in batch]),
    "put off": lambda queue, batch: queue.put_off(batch, queue.clock.now()),
}
End = Callable[[SqliteQueue, Sequence[ReceivedMessage]], None]


def a_queue(*, fifo: bool = False) -> SqliteQueue:
    queue = SqliteQueue(database=Database(layout=LAYOUT), clock=ManualClock(1_000), fifo=fifo)
    queue.send([Outgoing(body="one", message_group="g")])
    return queue


def again(queue: SqliteQueue) -> list[ReceivedMessage]:
    """What can be received after a while."""
    queue.clock.at += MINUTE  # type: ignore[attr-defined]
    return queue.receive()


def no_commit() -> None:
    raise Unwritten("the disk is full")


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("fifo", [True, False])
def test_a_commit_that_fails_leaves_it_with_who_has_it(end: End, fifo: bool) -> None:
    queue = a_queue(fifo=fifo)
    received = queue.receive()
    queue.database.before_commit.append(no_commit)
    queue.database.begin()
    end(queue, received)
    with pytest.raises(Unwritten):
        queue.database.commit()
    queue.database.before_commit.clear()
    assert (queue.receive(), queue.next_visible()) == ([], None)
    end(queue, received)
    assert len(again(queue)) == len(queue.messages) == (end is not ENDS["done"])


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_what_is_undone_within_a_turn_is_not_heard_after_its_commit(end: End) -> None:
    queue = a_queue()
    received = queue.receive()
    queue.database.begin()
    with suppress(ZeroDivisionError), queue.database.writing():
        end(queue, received)
        raise ZeroDivisionError
    queue.send([Outgoing(body="two")])
    queue.database.commit()
    assert [one.body for one in queue.receive()] == ["two"]


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_within_a_turn_nobody_else_has_it_before_the_commit(end: End) -> None:
    queue = a_queue()
    received = queue.receive()
    queue.database.begin()
    end(queue, received)
    assert queue.receive() == []
    queue.database.commit()
    assert len(again(queue)) == len(queue.messages) == (end is not ENDS["done"])


@pytest.mark.parametrize("damaged", ["CAST(x'ff41' AS TEXT)", "x'ff41'"])
def test_a_damaged_body_harms_itself_alone(damaged: str) -> None:
    """Whoever reads it finds that it is no message."""
    queue = SqliteQueue(database=Database(layout=LAYOUT), clock=ManualClock(1_000))
    queue.send([Outgoing(body="a"), Outgoing(body="b")])
    queue.database.write(f"UPDATE messages SET body = {damaged} WHERE body = 'a'", ())
    assert [one.body for one in queue.receive()] == ["\\xffA", "b"]


def test_so_many_bytes_are_received_at_a_time() -> None:
    """One message however large it is; all of them one after the other."""
    queue = SqliteQueue(database=Database(layout=LAYOUT), clock=ManualClock(1_000))
    sizes = [600_000, 300_000, 200_000, 2_000_000, 1]
    queue.send([Outgoing(body="x" * size) for size in sizes])
    received = [[len(one.body) for one in queue.receive()] for _ in range(4)]
    assert received == [[600_000, 300_000], [200_000], [2_000_000], [1]]
    assert queue.receive() == []
