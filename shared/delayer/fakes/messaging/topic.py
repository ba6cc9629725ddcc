"""An SNS topic, as its publishers and one subscriber see it."""

from collections.abc import Callable, Sequence

from attrs import Factory, define

from delayer.ports.topic import Announcement, nobody_asks


@define
class MemoryTopic:
    """Port Topic."""

    published: list[Announcement] = Factory(list)
    at_most: int = 262_144  # characters of a text; a longer one is refused

    def publish(self, announcements: Sequence[Announcement], refused: Callable[[int], None] = nobody_asks) -> list[int]:
        for position, announcement in enumerate(announcements):
            if len(announcement.text) > self.at_most:
                refused(position)
            else:
                self.published.append(announcement)
        return []
