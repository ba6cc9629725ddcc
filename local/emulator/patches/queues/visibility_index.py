"""When the next message of each queue becomes visible, so that nobody has to read all messages to find out."""

import heapq
import threading
import time
from collections import defaultdict
from collections.abc import Callable

# The index does not learn of a visibility timeout that a client changes; a poll each second finds such a message.
LONGEST_WITHOUT_POLL_SECONDS = 1.0


class VisibilityIndex:
    """The instants (epoch seconds) at which messages become visible, by queue URL; `wake` is called at each."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.wake = wake
        self.by_queue: dict[str, list[float]] = defaultdict(list)
        self.polled_at: dict[str, float] = {}
        self.wake_times: list[float] = []
        self.changed = threading.Condition()

    def start(self) -> None:
        """Start the thread that calls `wake` at each noted instant."""
        threading.Thread(target=self.wake_forever, daemon=True, name="visibility-index").start()

    def note(self, queue_url: str, visible_at: float) -> None:
        """A message of this queue becomes visible at this instant."""
        with self.changed:
            heapq.heappush(self.by_queue[queue_url], visible_at)
            heapq.heappush(self.wake_times, visible_at)
            if self.wake_times[0] == visible_at:
                self.changed.notify()

    def may_have_visible(self, queue_url: str, now: float) -> bool:
        """Whether the queue may hold a visible message."""
        with self.changed:
            instants = self.by_queue[queue_url]
            due = bool(instants) and instants[0] <= now
            return due or now - self.polled_at.get(queue_url, 0.0) >= LONGEST_WITHOUT_POLL_SECONDS

    def note_all_received(self, queue_url: str, now: float) -> None:
        """A poll at `now` has received every message that was visible."""
        with self.changed:
            self.polled_at[queue_url] = now
            instants = self.by_queue[queue_url]
            while instants and instants[0] <= now:
                heapq.heappop(instants)

    def wake_forever(self) -> None:
        """Call `wake` at each noted instant; several that have passed make one call."""
        while True:
            with self.changed:
                while not self.wake_times or self.wake_times[0] > time.time():
                    self.changed.wait(self.wake_times[0] - time.time() if self.wake_times else None)
                while self.wake_times and self.wake_times[0] <= time.time():
                    heapq.heappop(self.wake_times)
            self.wake()
