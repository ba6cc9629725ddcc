"""A standard SQS queue: delays, visibility, at-least-once delivery, redrive to a dead-letter queue."""

from collections.abc import Callable, Sequence

from attrs import Factory, define

from delayer.core.instants import SECOND, Millis
from delayer.ports import Clock, Delivery, Outgoing


@define
class Message:
    """A message in the queue."""

    message_id: str
    body: str
    visible_at: Millis
    tenant: str = ""
    receives: int = 0


def oldest(ready: Sequence[Message], at_most: int) -> Sequence[Message]:
    """The order in which messages came. SQS promises none: give the queue another one to see what depends on it."""
    return ready[:at_most]


@define
class MemoryQueue:
    """Port Queue, and the consumer's side of it."""

    clock: Clock
    name: str = "queue"
    visibility: Millis = 30 * SECOND
    max_receives: int = 10  # counts only if there is a queue of dead letters
    dead_letters: "MemoryQueue | None" = None
    choose: Callable[[Sequence[Message], int], Sequence[Message]] = oldest
    messages: list[Message] = Factory(list)
    sent: int = 0  # messages ever sent
    tenants: set[str] = Factory(set)  # of all messages ever sent
    requests: int = 0

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        self.requests += -(-len(messages) // 10)
        for message in messages:
            self._add(message.body, self.clock.now() + message.delay_seconds * SECOND, message.tenant)
        return []

    def visible(self) -> int:
        return sum(message.visible_at <= self.clock.now() for message in self.messages)

    def receive(self, at_most: int = 10) -> list[Delivery]:
        """Some of what is visible; invisible to others for the visibility timeout."""
        now = self.clock.now()
        ready = [message for message in self.messages if message.visible_at <= now]
        for message in [message for message in ready if message.receives >= self.max_receives]:
            if self.dead_letters is not None:
                ready.remove(message)
                self.messages.remove(message)
                self.dead_letters.take(message)
        chosen = self.choose(ready, at_most)
        for message in chosen:
            message.receives += 1
            message.visible_at = now + self.visibility
        return [self._delivery(message) for message in chosen]

    def take(self, message: Message) -> None:
        """Moved here from another queue, by SQS or by an operator: the same body under another id."""
        self._add(message.body, self.clock.now(), message.tenant)

    def reveal(self, message_ids: Sequence[str]) -> None:
        """At least once: a copy that missed its being received is delivered, too."""
        for message in self.messages:
            if message.message_id in message_ids:
                message.visible_at = self.clock.now()

    def settle(self, deliveries: Sequence[Delivery], failed: Sequence[str]) -> None:
        """Deletes what was not reported as failed, as Lambda's event source mapping does."""
        done = {delivery.message_id for delivery in deliveries} - set(failed)
        self.messages = [message for message in self.messages if message.message_id not in done]

    def next_visible(self) -> Millis | None:
        """When the next message can be received."""
        return min((message.visible_at for message in self.messages), default=None)

    def _add(self, body: str, visible_at: Millis, tenant: str) -> None:
        self.sent += 1
        self.tenants.add(tenant)
        self.messages.append(Message(f"{self.name}-{self.sent}", body, visible_at, tenant))

    def _delivery(self, message: Message) -> Delivery:
        return Delivery(message.message_id, message.body, message.receives, self.name)
