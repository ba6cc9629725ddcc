"""An SNS topic, as its publishers and one subscriber see it."""

from collections.abc import Sequence

from attrs import Factory, define

from delayer.ports.topic import Announcement


@define
class MemoryTopic:
    """Port Topic."""

    published: list[Announcement] = Factory(list)

    def publish(self, announcements: Sequence[Announcement]) -> list[int]:
        self.published += announcements
        return []
