"""When the next message of each queue becomes visible, so that nobody has to look at all messages to find out."""

import heapq
import threading
import time
from collections import defaultdict
from collections.abc import Callable

# A visibility timeout that a client changes is not noted here; a full look each second finds it.
FULL_LOOK_SECONDS = 1.0


class DelayedMessages:
    """An index of visible-at instants (epoch seconds) per queue URL, with an alarm at the earliest."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.wake = wake
        self.by_queue: dict[str, list[float]] = defaultdict(list)
        self.looked_at: dict[str, float] = {}
        self.alarms: list[float] = []
        self.changed = threading.Condition()

    def start(self) -> None:
        """Start the thread that calls `wake` at each noted instant."""
        threading.Thread(target=self.ring_for_ever, daemon=True, name="delayed-messages").start()

    def note(self, queue_url: str, visible_at: float) -> None:
        """A message of this queue becomes visible at this instant."""
        with self.changed:
            heapq.heappush(self.by_queue[queue_url], visible_at)
            heapq.heappush(self.alarms, visible_at)
            if self.alarms[0] == visible_at:
                self.changed.notify()

    def worth_a_look(self, queue_url: str, now: float) -> bool:
        """Whether the queue may hold a visible message."""
        with self.changed:
            instants = self.by_queue[queue_url]
            due = bool(instants) and instants[0] <= now
            return due or now - self.looked_at.get(queue_url, 0.0) >= FULL_LOOK_SECONDS

    def emptied(self, queue_url: str, now: float) -> None:
        """A look at `now` has taken every message that was visible."""
        with self.changed:
            self.looked_at[queue_url] = now
            instants = self.by_queue[queue_url]
            while instants and instants[0] <= now:
                heapq.heappop(instants)

    def ring_for_ever(self) -> None:
        """Wake at each noted instant; several that have passed make one call."""
        while True:
            with self.changed:
                while not self.alarms or self.alarms[0] > time.time():
                    self.changed.wait(self.alarms[0] - time.time() if self.alarms else None)
                while self.alarms and self.alarms[0] <= time.time():
                    heapq.heappop(self.alarms)
            self.wake()
