"""Queues, a topic and functions in memory."""

from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from typing import Any

from attrs import Factory, define, field

from delayer.engines.filter_policy import FilterPolicy, lets_through
from delayer.engines.ports import (
    Announcement,
    Clock,
    NotInvoked,
    Outgoing,
    Queue,
    ReceivedMessage,
    nobody_asks,
)
from delayer.schedule.instants import SECOND, Millis


@define
class QueuedMessage:
    """A message in the queue."""

    message_id: str
    number: int  # so many were sent before it, and itself
    body: str
    visible_at: Millis
    message_group: str = ""
    receives: int = 0
    sent_at: Millis = 0
    origin: str = ""  # the queue from which it was moved


def oldest(ready: Sequence[QueuedMessage], at_most: int) -> Sequence[QueuedMessage]:
    """The order in which they became visible; in a FIFO queue, in which they came.

    SQS promises none: give the queue another one to see what depends on it.
    """
    return ready[:at_most]


def _receipt(message: QueuedMessage) -> str:
    return f"{message.message_id}/{message.receives}"


@define
class MemoryQueue:
    """Keeps messages in memory, and has the consumer's side of a queue, too."""

    clock: Clock
    name: str = "queue"
    visibility: Millis = 30 * SECOND
    max_receives: int = 3  # then it is moved to that queue, if there is one
    dead_letters: "MemoryQueue | None" = None
    fifo: bool = False  # while messages of a group are in flight, no other of this group is delivered
    choose: Callable[[Sequence[QueuedMessage], int], Sequence[QueuedMessage]] = oldest
    sent: int = 0  # messages ever sent
    message_groups: set[str] = Factory(set)  # of all messages ever sent
    requests: int = 0
    _messages: dict[str, QueuedMessage] = field(init=False, factory=dict)  # in the order in which they came
    # A heap: when each is visible. What is no longer so is left in it until it comes to the front.
    _visible: list[tuple[Millis, int, str]] = field(init=False, factory=list)

    @property
    def messages(self) -> list[QueuedMessage]:
        """All that are in it, in the order in which they came."""
        return list(self._messages.values())

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
        now = self.clock.now()
        found = [(given, self._messages.get(given.message_id)) for given in messages]
        last = [
            one.message_id for given, one in found if one and one.visible_at > now and _receipt(one) == given.receipt
        ]
        self.reveal(last, seconds)

    def visible(self) -> int:
        return sum(message.visible_at <= self.clock.now() for message in self._messages.values())

    def delayed(self) -> int:
        now = self.clock.now()
        return sum(not message.receives and message.visible_at > now for message in self._messages.values())

    def receive(self, at_most: int = 10) -> list[ReceivedMessage]:
        """Some of what is visible; invisible to others for the visibility timeout."""
        if not self._messages and self.choose is oldest:
            return []
        in_order = self.choose is oldest and not self.fifo
        chosen = self._first(at_most) if in_order else self.choose(self._ready(), at_most)
        until = self.clock.now() + self.visibility
        for message in chosen:
            message.receives += 1
            self._show(message, until)
        return [self._received(message) for message in chosen]

    def _first(self, at_most: int) -> Sequence[QueuedMessage]:
        """Those that have been visible for the longest time, without a look at all others."""
        now, found = self.clock.now(), dict[str, QueuedMessage]()
        while len(found) < at_most and (at := self.next_visible()) is not None and at <= now:
            message = self._messages[heappop(self._visible)[2]]
            if not self._moved(message):
                found[message.message_id] = message
        return list(found.values())

    def _ready(self) -> Sequence[QueuedMessage]:
        """All that can be received now."""
        now = self.clock.now()
        ready = [one for one in self.messages if one.visible_at <= now and not self._moved(one)]
        busy = self._busy()
        return [message for message in ready if message.message_group not in busy]

    def _busy(self) -> dict[str, Millis]:
        """The message groups of which one is with a consumer, and until when at most: those behind it wait."""
        now = self.clock.now()
        out = [one for one in self.messages if self.fifo and one.receives and one.visible_at > now]
        return {one.message_group: one.visible_at for one in sorted(out, key=lambda one: one.visible_at)}

    def _moved(self, message: QueuedMessage) -> bool:
        """Whether it was received too often, and is moved away."""
        if message.receives < self.max_receives or self.dead_letters is None:
            return False
        self.dead_letters.take(self._messages.pop(message.message_id), self.name)
        return True

    def _show(self, message: QueuedMessage, at: Millis) -> None:
        """Makes a message visible at this instant."""
        message.visible_at = at
        heappush(self._visible, (at, message.number, message.message_id))

    def take(self, message: QueuedMessage, origin: str) -> None:
        """Moved here from another queue by SQS: the same body, sent when it was sent first, under another id."""
        self.add(message.body, self.clock.now(), message.message_group)
        taken = self._messages[f"{self.name}-{self.sent}"]
        taken.sent_at, taken.origin = message.sent_at, origin

    def reveal(self, message_ids: Sequence[str], seconds: int = 0) -> None:
        """Makes messages visible again, although they were received: after so many seconds."""
        for message in self._those(message_ids):
            self._show(message, self.clock.now() + seconds * SECOND)

    def put_off(self, batch: Sequence[ReceivedMessage], until: Millis) -> None:
        """Messages that were received are visible again then, and as if nobody had received them."""
        for message in self._those([received.message_id for received in batch]):
            message.receives -= 1
            self._show(message, until)

    def _those(self, message_ids: Sequence[str]) -> list[QueuedMessage]:
        return [self._messages[one] for one in message_ids if one in self._messages]

    def receives_of(self, message_id: str) -> int:
        """How often a message in the queue was received."""
        return self._messages[message_id].receives

    def settle(self, batch: Sequence[ReceivedMessage], failed: Sequence[str]) -> None:
        """Deletes what was not reported as failed, as Lambda's event source mapping does."""
        for message_id in {received.message_id for received in batch} - set(failed):
            self._messages.pop(message_id, None)

    def next_visible(self) -> Millis | None:
        """When the next message can be received."""
        if self.fifo:
            busy = self._busy()
            return min((max(one.visible_at, busy.get(one.message_group, 0)) for one in self.messages), default=None)
        while self._visible:
            at, _, message_id = self._visible[0]
            if (message := self._messages.get(message_id)) and message.visible_at == at:
                return at
            heappop(self._visible)
        return None

    def add(self, body: str, visible_at: Millis, message_group: str = "") -> None:
        """Adds a message."""
        self.sent += 1
        self.message_groups.add(message_group)
        message = QueuedMessage(
            message_id=f"{self.name}-{self.sent}",
            number=self.sent,
            body=body,
            visible_at=visible_at,
            message_group=message_group,
            sent_at=self.clock.now(),
        )
        self._messages[message.message_id] = message
        self._show(message, visible_at)

    def _received(self, message: QueuedMessage) -> ReceivedMessage:
        return ReceivedMessage(
            message_id=message.message_id,
            body=message.body,
            source=self.name,
            sent_at=message.sent_at,
            origin=message.origin,
            receives=message.receives,
            receipt=_receipt(message),
        )


@define
class MemoryTopic:
    """Keeps what was published."""

    published: list[Announcement] = Factory(list)
    at_most: int = 262_144  # characters of a text; a longer one is refused

    def publish(self, announcements: Sequence[Announcement], refused: Callable[[int], None] = nobody_asks) -> list[int]:
        for position, announcement in enumerate(announcements):
            if len(announcement.text) > self.at_most:
                refused(position)
            else:
                self.deliver(announcement)
        return []

    def deliver(self, announcement: Announcement) -> None:
        """Keeps the announcement: nobody subscribes."""
        self.published.append(announcement)


@define(kw_only=True)
class SubscribedTopic(MemoryTopic):
    """The same with queues behind it, each with its filter policy. It keeps nothing."""

    queues: Sequence[tuple[Queue, FilterPolicy]]

    def deliver(self, announcement: Announcement) -> None:
        for queue, policy in self.queues:
            if lets_through(policy, dict(announcement.attributes)):
                queue.send([Outgoing(body=announcement.text)])


@define
class MemoryFunction:
    """Stands for a function of Lambda.

    `answer` takes a question and returns the answer; without it there is no such function.
    """

    answer: Callable[[Mapping[str, Any]], object] | None = None
    asked: list[Mapping[str, Any]] = Factory(list)

    def ask(self, question: Mapping[str, Any]) -> object:
        self.asked.append(question)
        if self.answer is None:
            raise NotInvoked("the function does not exist")
        return self.answer(question)
