"""An SQS queue: delays, visibility, at-least-once delivery, redrive to a dead-letter queue; standard or FIFO."""

from collections.abc import Callable, Sequence

from attrs import Factory, define

from delayer.core.schedule.instants import SECOND, Millis
from delayer.ports.clock import Clock
from delayer.ports.queue import Outgoing, ReceivedMessage


@define
class Message:
    """A message in the queue."""

    message_id: str
    body: str
    visible_at: Millis
    message_group: str = ""
    receives: int = 0
    sent_at: Millis = 0
    origin: str = ""  # the queue from which it was moved


def oldest(ready: Sequence[Message], at_most: int) -> Sequence[Message]:
    """The order in which messages came. SQS promises none: give the queue another one to see what depends on it."""
    return ready[:at_most]


def _receipt(message: Message) -> str:
    return f"{message.message_id}/{message.receives}"


@define
class MemoryQueue:
    """Port Queue, and the consumer's side of it."""

    clock: Clock
    name: str = "queue"
    visibility: Millis = 30 * SECOND
    max_receives: int = 3  # then it is moved to that queue, if there is one
    dead_letters: "MemoryQueue | None" = None
    fifo: bool = False  # while messages of a group are in flight, no other of this group is delivered
    choose: Callable[[Sequence[Message], int], Sequence[Message]] = oldest
    messages: list[Message] = Factory(list)
    sent: int = 0  # messages ever sent
    message_groups: set[str] = Factory(set)  # of all messages ever sent
    requests: int = 0

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        self.requests += -(-len(messages) // 10)
        for message in messages:
            self.add(message.body, self.clock.now() + message.delay_seconds * SECOND, message.message_group)
        return []

    def pull(self, at_most: int) -> list[ReceivedMessage]:
        return self.receive(min(at_most, 10))

    def delete(self, received: ReceivedMessage) -> None:
        self.settle([received], [])

    def give_back(self, messages: Sequence[ReceivedMessage], seconds: int = 0) -> None:
        """By the receipt of the last receive: an older one is worth nothing any more."""
        last = {_receipt(one) for one in self.messages if one.visible_at > self.clock.now()}
        self.reveal([one.message_id for one in messages if one.receipt in last], seconds)

    def visible(self) -> int:
        return sum(message.visible_at <= self.clock.now() for message in self.messages)

    def delayed(self) -> int:
        return sum(not message.receives and message.visible_at > self.clock.now() for message in self.messages)

    def receive(self, at_most: int = 10) -> list[ReceivedMessage]:
        """Some of what is visible; invisible to others for the visibility timeout."""
        now = self.clock.now()
        ready = [message for message in self.messages if message.visible_at <= now]
        for message in [message for message in ready if message.receives >= self.max_receives]:
            if self.dead_letters is not None:
                ready.remove(message)
                self.messages.remove(message)
                self.dead_letters.take(message, self.name)
        chosen = self.choose(self._of_free_groups(ready) if self.fifo else ready, at_most)
        for message in chosen:
            message.receives += 1
            message.visible_at = now + self.visibility
        return [self._received(message) for message in chosen]

    def _of_free_groups(self, ready: Sequence[Message]) -> Sequence[Message]:
        now = self.clock.now()
        busy = {one.message_group for one in self.messages if one.receives and one.visible_at > now}
        return [message for message in ready if message.message_group not in busy]

    def take(self, message: Message, origin: str) -> None:
        """Moved here from another queue by SQS: the same body, sent when it was sent first, under another id."""
        self.add(message.body, self.clock.now(), message.message_group)
        self.messages[-1].sent_at, self.messages[-1].origin = message.sent_at, origin

    def reveal(self, message_ids: Sequence[str], seconds: int = 0) -> None:
        """Makes messages visible again, although they were received: after so many seconds."""
        for message in self.messages:
            if message.message_id in message_ids:
                message.visible_at = self.clock.now() + seconds * SECOND

    def receives_of(self, message_id: str) -> int:
        """How often a message in the queue was received."""
        return next(message.receives for message in self.messages if message.message_id == message_id)

    def settle(self, batch: Sequence[ReceivedMessage], failed: Sequence[str]) -> None:
        """Deletes what was not reported as failed, as Lambda's event source mapping does."""
        done = {received.message_id for received in batch} - set(failed)
        self.messages = [message for message in self.messages if message.message_id not in done]

    def next_visible(self) -> Millis | None:
        """When the next message can be received."""
        return min((message.visible_at for message in self.messages), default=None)

    def add(self, body: str, visible_at: Millis, message_group: str) -> None:
        """Adds a message."""
        self.sent += 1
        self.message_groups.add(message_group)
        message_id = f"{self.name}-{self.sent}"
        self.messages.append(Message(message_id, body, visible_at, message_group, sent_at=self.clock.now()))

    def _received(self, message: Message) -> ReceivedMessage:
        return ReceivedMessage(
            message_id=message.message_id,
            body=message.body,
            source=self.name,
            sent_at=message.sent_at,
            origin=message.origin,
            receives=message.receives,
            receipt=_receipt(message),
        )
