"""The consumer's side of the fake of SQS; the sender's is in tests/contract/messaging/test_queue.py.

https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-visibility-timeout.html
"""

from delayer.engines.memory import ManualClock
from delayer.engines.ports import Outgoing, ReceivedMessage
from delayer.schedule.instants import SECOND
from tests.fakes.messaging import MemoryQueue
from tests.samples import NOW


def a_queue(clock: ManualClock, **settings: object) -> MemoryQueue:
    queue = MemoryQueue(clock=clock, **settings)  # type: ignore[arg-type] # its own fields
    queue.send([Outgoing(body="a", message_group="t"), Outgoing(body="b")])
    return queue


def bodies(batch: list[ReceivedMessage]) -> list[str]:
    return [received.body for received in batch]


def test_what_is_not_settled_comes_again() -> None:
    clock = ManualClock(NOW)
    queue = a_queue(clock)
    first = queue.receive()
    assert [(one.body, queue.receives_of(one.message_id)) for one in first] == [("a", 1), ("b", 1)]
    assert queue.receive() == []
    queue.settle(first, failed=[first[1].message_id])
    assert queue.next_visible() == NOW + 30 * SECOND
    clock.move(30 * SECOND)
    assert [(one.body, queue.receives_of(one.message_id)) for one in queue.receive()] == [("b", 2)]


def test_a_message_of_a_fifo_queue_waits_for_the_one_before_it_in_its_group() -> None:
    """Also for its next instant: whoever waits for that would otherwise wait in the past."""
    clock = ManualClock(NOW)
    queue = MemoryQueue(clock=clock, fifo=True)
    queue.send([Outgoing(body="a", message_group="t"), Outgoing(body="b", message_group="t")])
    assert queue.next_visible() == NOW
    first = queue.receive(1)
    assert queue.receive() == []
    assert queue.next_visible() == NOW + 30 * SECOND
    queue.settle(first, failed=[])
    assert queue.next_visible() == NOW
    assert bodies(queue.receive()) == ["b"]


def test_a_message_can_be_received_twice_at_the_same_time() -> None:
    queue = a_queue(ManualClock(NOW))
    first = queue.receive(1)
    queue.reveal([first[0].message_id])
    again = queue.receive(1)
    assert (again[0].message_id, queue.receives_of(again[0].message_id)) == (first[0].message_id, 2)
    queue.settle(first, [])
    assert bodies(queue.receive()) == ["b"]


def test_it_is_buried_after_so_many_receives() -> None:
    """With its message group, and under another message id."""
    clock = ManualClock(NOW)
    dead = MemoryQueue(clock=clock, name="dead")
    queue = a_queue(clock, dead_letters=dead, max_receives=2)
    for _ in range(2):
        assert bodies(queue.receive()) == ["a", "b"]
        clock.move(30 * SECOND)
    assert queue.receive() == []
    assert queue.messages == []
    assert [(one.body, one.message_group, one.receives) for one in dead.messages] == [("a", "t", 0), ("b", "", 0)]
    assert [one.message_id for one in dead.messages] == ["dead-1", "dead-2"]


def test_without_a_dead_letter_queue_it_comes_for_ever() -> None:
    clock = ManualClock(NOW)
    queue = a_queue(clock, max_receives=1)
    for _ in range(5):
        assert bodies(queue.receive()) == ["a", "b"]
        clock.move(30 * SECOND)


def test_who_drives_it_chooses_the_order() -> None:
    queue = a_queue(ManualClock(NOW), choose=lambda ready, at_most: ready[::-1][:at_most])
    assert bodies(queue.receive(1)) == ["b"]
    assert bodies(queue.receive(1)) == ["a"]
