"""What is going to happen, and when: queues and timers of a fake."""

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Final

from attrs import define, field

from delayer.core.schedule.instants import MINUTE, SECOND, Millis
from delayer.ports.queue import Outgoing, ReceivedMessage
from delayer_client.testing.clock import HandClock, NotYet, TargetRaised

AGAIN_AFTER: Final = MINUTE  # a message that its function has failed at


@define
class Agenda:
    """In order of time; what is due at the same instant, in the order in which it was put here."""

    _entries: list[tuple[Millis, int, Callable[[], None]]] = field(factory=list)
    _put: int = 0  # how much was ever put here

    def put(self, instant: Millis, do: Callable[[], None]) -> None:
        """To be done then."""
        self._put += 1
        heappush(self._entries, (instant, self._put, do))

    def next(self) -> Millis | None:
        """When the next is due."""
        return self._entries[0][0] if self._entries else None

    def take(self, now: Millis) -> Callable[[], None] | None:
        """The first that is due."""
        return heappop(self._entries)[2] if self._entries and self._entries[0][0] <= now else None


@define(kw_only=True)
class Deliveries:
    """Port Queue, whose messages are put on the agenda: each is received alone, at the very moment."""

    name: str
    clock: HandClock
    agenda: Agenda
    handle: Callable[[Sequence[ReceivedMessage]], Sequence[str]] = lambda _batch: ()
    _sent: int = 0

    def send(self, messages: Sequence[Outgoing]) -> list[int]:
        """As the port."""
        now = self.clock.now()
        for message in messages:
            self._sent += 1
            received = ReceivedMessage(
                message_id=f"{self.name}-{self._sent}", body=message.body, source=self.name, sent_at=now
            )
            self._put(now + message.delay_seconds * SECOND, received)
        return []

    def _put(self, instant: Millis, message: ReceivedMessage) -> None:
        self.agenda.put(instant, lambda: self.deliver(message))

    def deliver(self, message: ReceivedMessage) -> None:
        """Now, and again if its function says so."""
        try:
            failed = self.handle([message])
        except NotYet as early:
            self._put(early.until, message)
        except TargetRaised:
            self._put(self.clock.now() + AGAIN_AFTER, message)
            raise
        else:
            if failed:
                self._put(self.clock.now() + AGAIN_AFTER, message)

    def pull(self, at_most: int) -> list[ReceivedMessage]:  # noqa: ARG002 - as the port
        """Nobody pulls: each message comes by itself."""
        return []

    def delete(self, received: ReceivedMessage) -> None:
        """As the port."""

    def give_back(self, messages: Sequence[ReceivedMessage], seconds: int = 0) -> None:
        """As the port."""

    def visible(self) -> int:
        """There is never a backlog."""
        return 0

    def delayed(self) -> int:
        """As the port."""
        return 0
