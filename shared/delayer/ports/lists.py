"""Lists of schedules in due order: those of a group, and those of an owner."""

from typing import Protocol

from attrs import frozen

from delayer.core.schedule.instants import Millis


@frozen(kw_only=True)
class Member:
    """One schedule of a list."""

    schedule_id: str
    created_at: Millis


@frozen(kw_only=True)
class Members:
    """A page of a list, in due order."""

    members: tuple[Member, ...]
    more: str  # the id after which the next page begins; empty: this was the last


class ReadsMembers(Protocol):
    """Part of Registry."""

    def members(self, owner: str, group: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        """Those due from `since` on and before `until`, after one of them (empty: from the first).

        Strongly consistent.
        """
        ...
