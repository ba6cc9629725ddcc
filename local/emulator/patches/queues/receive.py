"""SQS: what a receive does with a queue of thousands takes one look at each message, instead of five."""

import time
from typing import Any, Final

LOOKED_AT_EACH: Final = 1.0  # s; for messages that have been kept for too long, which is a matter of days


class QuickReceive:
    """Takes the place of ministack's receive of a standard queue; that of a FIFO queue stays.

    ministack completes each message, looks for old ones, for those that belong into the dead-letter queue, and for the
    visible ones, in a pass of its own for each, over all that wait.
    """

    def __init__(self, sqs: Any) -> None:
        self.sqs = sqs
        self.expire, self.sweep, self.collect_fifo = sqs._expire_retained, sqs._dlq_sweep, sqs._collect_msgs
        self.complete, self.new_uuid = sqs._ensure_msg_fields, sqs.new_uuid

    def install(self) -> None:
        """Replace ministack's own functions."""
        self.sqs._expire_retained = self.expire_sometimes
        self.sqs._dlq_sweep = self.sweep_fifo
        self.sqs._collect_msgs = self.collect
        self.sqs._delete_messages_for_esm = self.delete

    def delete(self, queue_url: str, receipt_handles: set[str]) -> None:
        """Delete what a function has done with, in place: a topic adds to the list without waiting for its turn."""
        with self.sqs._queues_lock:
            messages = self.sqs._get_q(queue_url)["messages"]
            for number in reversed(places_of(messages, receipt_handles)):
                del messages[number]

    def expire_sometimes(self, queue: dict[str, Any]) -> None:
        """Drop what is older than the queue keeps it, once a second."""
        now = time.time()
        if now - queue.get("expired_at", 0.0) >= LOOKED_AT_EACH:
            queue["expired_at"] = now
            self.expire(queue)

    def sweep_fifo(self, queue: dict[str, Any]) -> None:
        """Of a standard queue, `collect` finds out whether there is something to move."""
        if queue["is_fifo"]:
            self.sweep(queue)

    def collect(self, queue: dict[str, Any], at_most: int, visibility_timeout: int) -> list[dict[str, Any]]:
        """The first visible messages, which are invisible from now on."""
        if queue["is_fifo"]:
            found: list[dict[str, Any]] = self.collect_fifo(queue, at_most, visibility_timeout)
            return found
        now = time.time()
        received = first_visible(queue["messages"], at_most, now)
        if any(message.get("receive_count") for message in received):
            self.sweep(queue)  # one that was received before may have been received often enough
            received = first_visible(queue["messages"], at_most, now)
        for message in received:
            self.complete(message)
            message["receipt_handle"] = self.new_uuid()
            message["visible_at"] = now + visibility_timeout
            message["receive_count"] += 1
            message["first_receive_at"] = message["first_receive_at"] or now
        return received


def places_of(messages: list[dict[str, Any]], receipt_handles: set[str]) -> list[int]:
    """Where the messages with these handles are. The received ones are among the first, so the rest is not read."""
    found = []
    for number, message in enumerate(messages):
        if message.get("receipt_handle") in receipt_handles:
            found.append(number)
            if len(found) == len(receipt_handles):
                break
    return found


def first_visible(messages: list[dict[str, Any]], at_most: int, now: float) -> list[dict[str, Any]]:
    """In their order."""
    found = []
    for message in messages:
        if message["visible_at"] <= now:
            found.append(message)
            if len(found) == at_most:
                break
    return found
