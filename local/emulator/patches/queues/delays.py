"""SQS: delayed messages are received at the moment at which they become visible."""

import threading
import time
from typing import Any

from local.emulator.patches.queues.visibility_index import VisibilityIndex


class DelayedWakes:
    """Polls a queue when its next message becomes visible, and not before.

    An idle ministack polls once a second, so a delayed message would be up to a second late; and each poll reads all
    messages of a queue, which is slow when ten thousand are waiting. A batch is noted only once all its messages are
    in the queue: otherwise a mapping would receive the first one alone.
    """

    def __init__(self, lambda_service: Any, sqs: Any) -> None:
        self.sqs = sqs
        self.index = VisibilityIndex(wake=lambda_service.esm_wake.set)
        self.batch = threading.local()  # what this thread's SendMessageBatch has put into its queue so far
        self.send_one, self.send_many = sqs._act_send_message, sqs._act_send_message_batch
        self.receive_visible = sqs._receive_messages_for_esm

    def install(self) -> None:
        """Replace ministack's own functions."""
        sqs = self.sqs
        sqs._act_send_message = sqs._HANDLERS["SendMessage"] = self.send
        sqs._act_send_message_batch = sqs._HANDLERS["SendMessageBatch"] = self.send_batch
        sqs._receive_messages_for_esm = self.receive
        self.index.start()

    def send(self, data: dict[str, Any], queue_url: str) -> Any:
        """Send one message, alone or as part of a batch."""
        response = self.send_one(data, queue_url)
        queue = self.sqs._get_q(data.get("QueueUrl", queue_url))
        # A slice, because a mapping may already have received and deleted the message.
        sent = [(queue["url"], message["visible_at"]) for message in queue["messages"][-1:]]
        if hasattr(self.batch, "sent"):
            self.batch.sent += sent
        else:
            self.note(sent)
        return response

    def send_batch(self, data: dict[str, Any], queue_url: str) -> Any:
        """Send a batch; ministack calls `send` for each of its messages."""
        self.batch.sent = []
        try:
            return self.send_many(data, queue_url)
        finally:
            self.note(self.batch.sent)
            del self.batch.sent

    def note(self, sent: list[tuple[str, float]]) -> None:
        """Add queue URLs and instants to the index."""
        for queue_url, visible_at in sent:
            self.index.note(queue_url, visible_at)

    def receive(self, queue_url: str, max_number: int) -> Any:
        """Receive visible messages, if there can be any."""
        now = time.time()
        if not self.index.may_have_visible(queue_url, now):
            return []
        batch = self.receive_visible(queue_url, max_number)
        if len(batch) < min(max_number, 10):
            self.index.note_all_received(queue_url, now)
        self.note([(queue_url, message["visible_at"]) for message in batch])
        return batch
