"""Time, threads, randomness, settings, and the shapes of SQS events."""

import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from delayer.engines.ports import ReceivedMessage
from delayer.engines.process import RandomTokens, SystemClock, Threads, number, random_token, setting
from delayer.lambdas.events import partial_failure, received_messages_of


def test_now_is_never_ahead_of_the_true_time() -> None:
    before = time.time_ns()
    now = SystemClock().now()
    assert before // 1_000_000 <= now <= time.time_ns() // 1_000_000


@pytest.mark.parametrize("ahead", [0, 1, 7, 20])
def test_a_sleep_ends_at_its_instant_or_after_it(ahead: int) -> None:
    """Never early, not by a microsecond."""
    clock = SystemClock()
    instant = clock.now() + ahead
    clock.sleep_until(instant)
    assert time.time_ns() >= instant * 1_000_000


def test_what_has_passed_is_not_waited_for() -> None:
    clock = SystemClock()
    began = time.monotonic()
    clock.sleep_until(clock.now() - 60_000)
    assert time.monotonic() - began < 0.5


def test_threads_keep_the_order_and_work_side_by_side() -> None:
    """All ten of a batch are at it at the same time: each waits for all others."""
    barrier = threading.Barrier(10, timeout=10)

    def wait(item: int) -> int:
        barrier.wait()
        return item * item

    assert Threads().map(wait, range(10)) == [item * item for item in range(10)]


def test_one_thing_needs_no_thread() -> None:
    assert Threads().map(lambda _: threading.current_thread(), [1]) == [threading.current_thread()]
    assert Threads().map(lambda item: item, []) == []


def test_a_thread_that_maps_does_not_wait_for_its_own_pool() -> None:
    """As an executor that writes a list of changes: if all threads waited for the pool, none would be left to work."""
    threads = Threads(2)
    both_are_in = threading.Barrier(2, timeout=60)

    def nested(item: int) -> list[int]:
        both_are_in.wait()
        return threads.map(lambda inner: item * inner, [1, 2, 3])

    assert threads.map(nested, [1, 10]) == [[1, 2, 3], [10, 20, 30]]


@pytest.mark.parametrize("make", [random_token, RandomTokens()])
def test_tokens_are_random(make: Callable[[], str]) -> None:
    tokens = {make() for _ in range(1000)}
    assert len(tokens) == 1000
    assert {len(token) for token in tokens} == {16}


def test_a_child_has_none_of_the_tokens_of_its_parent() -> None:
    """Each would let something happen twice."""
    code = (
        "import os; from delayer.engines.process import RandomTokens; make = RandomTokens(); make(); child = os.fork();"
        "os.write(1, ' '.join([*(make() for _ in range(9)), '']).encode()); child and os.wait()"  # in one piece
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(set(done.stdout.split())) == 18


def test_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEASE", "10")
    assert (setting("LEASE"), number("LEASE")) == ("10", 10)
    monkeypatch.delenv("LEASE")
    with pytest.raises(SystemExit, match=r"LEASE is missing: template\.yaml sets it; in a test, .+monkeypatch\.setenv"):
        setting("LEASE")


def test_the_messages_of_an_sqs_event() -> None:
    event: Any = {
        "Records": [
            {
                "messageId": "059f36b4-87a3-44ab-83d2-661975830a7d",
                "receiptHandle": "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a...",
                "body": '{"v": 1}',
                "attributes": {"ApproximateReceiveCount": "3", "SentTimestamp": "1545082649183"},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": "arn:aws:sqs:eu-west-1:123456789012:delayer-DelayerQueue",
            }
        ]
    }
    expected = ReceivedMessage(
        message_id="059f36b4-87a3-44ab-83d2-661975830a7d",
        body='{"v": 1}',
        source="delayer-DelayerQueue",
        sent_at=1_545_082_649_183,
        receives=3,
        receipt="AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a...",
    )
    assert received_messages_of(event) == [expected]


def test_the_answer_to_a_batch() -> None:
    assert partial_failure([]) == {"batchItemFailures": []}
    assert partial_failure(["a", "b"]) == {"batchItemFailures": [{"itemIdentifier": "a"}, {"itemIdentifier": "b"}]}
