"""A receive of a standard queue behaves as ministack's own, in one look at each message."""

import json
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from ministack.services import sqs

from local.emulator.patches.queues.receive import QuickReceive

REPLACED = ("_expire_retained", "_dlq_sweep", "_collect_msgs", "_delete_messages_for_esm")  # ministack's names
RECEIVE, DELETE, SEND = "_receive_messages_for_esm", "_delete_messages_for_esm", "_act_send_message"
CREATE, QUEUES = "_act_create_queue", "_queues"


@pytest.fixture
def module() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        for name in REPLACED:
            monkeypatch.setattr(sqs, name, getattr(sqs, name))
        QuickReceive(sqs).install()
        yield sqs
    sqs.reset()


def queue(name: str, **attributes: str) -> str:
    create = getattr(sqs, CREATE)
    url: str = create({"QueueName": name, "Attributes": attributes}, "")["QueueUrl"]
    return url


def send(url: str, *bodies: str, delay: int = 0) -> None:
    for body in bodies:
        getattr(sqs, SEND)({"QueueUrl": url, "MessageBody": body, "DelaySeconds": delay}, url)


def received(url: str, at_most: int = 10) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = getattr(sqs, RECEIVE)(url, at_most)
    return found


def messages_of(url: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = getattr(sqs, QUEUES)[url]["messages"]
    return found


def bodies(messages: list[dict[str, Any]]) -> list[str]:
    return [message["body"] for message in messages]


def test_it_takes_the_first_visible_ones_once(module: ModuleType) -> None:
    url = queue("first")
    send(url, "later", delay=60)
    send(url, "a", "b", "c")
    first = received(url, 2)
    assert bodies(first) == ["a", "b"]
    assert [message["receive_count"] for message in first] == [1, 1]
    assert len({message["receipt_handle"] for message in first}) == 2
    assert bodies(received(url)) == ["c"]
    assert received(url) == []


def test_what_is_not_deleted_comes_again_after_its_timeout_with_another_handle(module: ModuleType) -> None:
    url = queue("again", VisibilityTimeout="0")
    send(url, "a")
    first = dict(received(url)[0])
    second = received(url)[0]
    assert (second["receive_count"], second["first_receive_at"]) == (2, first["first_receive_at"])
    assert second["receipt_handle"] != first["receipt_handle"]


def test_what_was_received_too_often_is_moved(module: ModuleType) -> None:
    dead = queue("dead")
    arn = "arn:aws:sqs:us-east-1:000000000000:dead"
    redrive = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": "2"})
    url = queue("source", VisibilityTimeout="0", RedrivePolicy=redrive)
    send(url, "a")
    assert [bodies(received(url)) for _ in range(3)] == [["a"], ["a"], []]
    assert bodies(received(dead)) == ["a"]


def test_a_delete_takes_what_it_names_and_keeps_the_list(module: ModuleType) -> None:
    """A topic's thread may hold the list, and adds to it."""
    url = queue("deleted")
    send(url, "a", "b", "c", "d")
    batch = received(url, 3)
    messages = messages_of(url)
    getattr(sqs, DELETE)(url, {batch[0]["receipt_handle"], batch[2]["receipt_handle"], "unknown"})
    assert bodies(messages) == ["b", "d"]
    assert messages_of(url) is messages


def test_what_is_too_old_is_dropped(module: ModuleType) -> None:
    url = queue("old", MessageRetentionPeriod="60")
    send(url, "a", "b")
    messages_of(url)[0]["sent_at"] = time.time() - 61
    assert bodies(received(url)) == ["b"]


def test_a_fifo_queue_stays_as_it_is(module: ModuleType) -> None:
    url = queue("ordered.fifo", FifoQueue="true", ContentBasedDeduplication="true")
    for body in ("a", "b"):
        getattr(sqs, SEND)({"QueueUrl": url, "MessageBody": body, "MessageGroupId": "one"}, url)
    assert bodies(received(url, 1)) == ["a"]
    assert received(url, 1) == [], "the group waits for the first one"
