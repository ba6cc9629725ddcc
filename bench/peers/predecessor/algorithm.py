"""What delayer-aws decides. Its times are whole seconds. No input or output here.

Sources: its stream-dynamodb-fasttrack_enqueuer, task-1minute-enqueuer and task-1minute-sqs2sns.
"""

from typing import Generic, TypeVar

Message = TypeVar("Message")

ZONE_SECONDS = 14 * 60  # what is due within it is moved to the delay queue
BUFFER = 10  # messages that are published together
POLL_SECONDS = 3  # for which a receive waits
VISIBILITY_SECONDS = 10


def point_in_time(due_ms: int) -> int:
    """As it is stored: the fraction of the second is cut off."""
    return due_ms // 1000


def is_in_zone(at: int, now: int) -> bool:
    """Whether something is moved to the queue, by the task of each minute and by the stream. What is late is not."""
    return now <= at <= now + ZONE_SECONDS


def delay(at: int, now: int) -> int:
    """Seconds in the queue."""
    return at - now


class Buffer(Generic[Message]):
    """The poller publishes when it has ten, or when nothing came for three seconds."""

    def __init__(self) -> None:
        self.held: list[Message] = []

    def to_publish(self, received: list[Message]) -> list[Message]:
        """What is published after a receive."""
        self.held += received
        if received and len(self.held) < BUFFER:
            return []
        flushed, self.held = self.held, []
        return flushed
