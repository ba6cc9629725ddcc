"""The queue of a run: every message counts once, however often SQS delivers it."""

import time

import pytest

from delayer_client.operator.verify.inbox import Inbox, queue_name
from tests.client.operator.verify.fakes import FakeQueue, message


def test_arrivals_by_the_clock_of_sqs_each_message_once() -> None:
    queue = FakeQueue(waiting=[message("a", 1000, "m1"), message("a", 1000, "m1"), message("b", 7, "m2")])
    inbox = Inbox(sqs=queue, name="q")
    inbox.open()
    try:
        assert inbox.wait_for(["a", "b"], 5) == set()
        assert inbox.arrivals() == {"a": [1000], "b": [7]}
        queue.waiting = [message("a", 1300, "m3")]
        deadline = time.monotonic() + 5
        while len(inbox.arrivals()["a"]) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert inbox.arrivals()["a"] == [1000, 1300], "another message of the same schedule: fired twice"
        assert inbox.wait_for(["c"], 0) == {"c"}
    finally:
        inbox.close()
    assert queue.made == ["q"]
    assert queue.removed == ["http://sqs/1/q"]
    assert len(queue.deleted) == 4


@pytest.mark.parametrize(
    ("pattern", "name"),
    [
        ("delayer-target-*", "delayer-target-verify-7"),
        ("*", "verify-7"),
        ("a-*-b-*", "a-verify-7-b-"),
        ("my-queue", None),
        ("delayer-*.fifo", None),
    ],
)
def test_a_name_that_the_stack_may_send_to(pattern: str, name: str | None) -> None:
    assert queue_name(pattern, "7") == name
