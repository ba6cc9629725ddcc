"""What is done about missed times. It is apart from rules, which are slow to import, and not needed for a step."""

from enum import StrEnum


class OnMissed(StrEnum):
    """What is done about the times that pass while nothing can be scheduled."""

    SKIP = "skip"
    ONCE = "once"  # the last of them is made up
    ALL = "all"
