"""Lists the schedules of a group, or of an owner, each with its state at the moment of the answer."""

from collections.abc import Sequence
from typing import Final

from attrs import evolve, frozen

from delayer.core.api.problem import FieldError, Invalid
from delayer.core.api.request import Listing
from delayer.core.api.status import Status, status_of
from delayer.core.history.events import Original
from delayer.core.ledger.lifecycle import State
from delayer.core.schedule.definition import given
from delayer.core.schedule.instants import SECOND, Millis
from delayer.core.schedule.margins import STALE_AFTER
from delayer.core.schedule.schedule_id import is_undecided, key_of
from delayer.ports.clock import Clock
from delayer.ports.journal import ListsOwned
from delayer.ports.ledger import ReadsManyRows
from delayer.ports.lists import Members, ReadsMembers
from delayer.ports.schedule_table import ReadsManySchedules
from delayer.use_cases.api.issue import IdCheck
from delayer.use_cases.history.outlines import Outlines

MAX_READ: Final = 1_000  # members for one page: a filter that nothing passes must not run into the timeout
AT_A_TIME: Final = 25  # records may be large, and the page full before all are read
MAX_TIME: Final[Millis] = 4 * SECOND  # after this long the page ends, full or not
PAGE_BYTES: Final = 1_500_000  # of definitions: Lambda answers with six MiB at most, escaped twice


@frozen(kw_only=True)
class Listed:
    """A page. `after` is the id that the next one follows; empty: this was the last."""

    schedules: tuple[Status, ...]
    after: str


@frozen(kw_only=True)
class ListSchedules:
    """One call of the API."""

    clock: Clock
    ledger: ReadsManyRows
    schedules: ReadsManySchedules
    registry: ReadsMembers
    journal: ListsOwned | None  # None: it is switched off, and only groups can be listed
    ids: IdCheck
    outlines: Outlines

    def __call__(self, listing: Listing, owner: str) -> Listed:
        """Raises Unavailable if AWS failed, Invalid if the cursor belongs to another owner.

        A list of a group is complete. A list of all comes from the journal: what has not arrived there yet, or was
        accepted while it was off, is missing. A page may hold fewer than the limit, and have a next one.
        """
        if listing.after and not self.ids.is_genuine(listing.after, owner):
            allowed = "the nextCursor of the page before"
            raise Invalid([FieldError(field="cursor", problem="not one of ours", allowed=allowed)])
        page = self._listed(listing, owner)
        return evolve(page, schedules=tuple(self.outlines(page.schedules, owner)))

    def _listed(self, listing: Listing, owner: str) -> Listed:
        listed: list[Status] = []
        after, room, until = listing.after, PAGE_BYTES, self.clock.now() + MAX_TIME
        for _ in range(MAX_READ // AT_A_TIME):
            # Without a filter each member is shown: more than are wanted need not be looked up.
            wanted = AT_A_TIME if listing.state else min(AT_A_TIME, listing.limit - len(listed))
            page = self._page(listing, owner, after, wanted)
            for schedule_id, found in self._find([member.schedule_id for member in page.members]):
                if found and _is_wanted(listing, found):
                    room -= _size(found.original)
                    if len(listed) == listing.limit or (listed and room < 0):
                        return Listed(schedules=tuple(listed), after=after)
                    listed.append(found)
                after = schedule_id
            after = page.more
            if not after or len(listed) == listing.limit or self.clock.now() > until:
                break
        return Listed(schedules=tuple(listed), after=after)

    def _page(self, listing: Listing, owner: str, after: str, at_most: int) -> Members:
        since, until = listing.since, listing.until
        if listing.group:
            return self.registry.members(owner, listing.group, since, until, after, at_most)
        if self.journal is None:
            raise Invalid([FieldError(field="group", problem="missing", allowed="a group, as the journal is off")])
        # Hardly anything is known about older ones, and their entries stay for months.
        since = max(since, self.clock.now() - STALE_AFTER)
        return self.journal.owned(owner, since, until, after, at_most)

    def _find(self, ids: Sequence[str]) -> list[tuple[str, Status | None]]:
        """None for what is so old that nothing is known about it."""
        rows = self.ledger.read_all(ids)
        waiting = [one for one in ids if one not in rows or rows[one].state in (State.SCHEDULED, State.UNDECIDED)]
        records = self.schedules.read_all([key_of(one) for one in waiting])
        if decided := [one for one in waiting if is_undecided(one) and key_of(one) not in records]:
            rows |= self.ledger.read_all(decided)  # since its row was read
        now = self.clock.now()
        found = [(one, status_of(one, rows.get(one), records.get(key_of(one)), now)) for one in ids]
        return [(one, status if isinstance(status, Status) else None) for one, status in found]


def _is_wanted(listing: Listing, found: Status) -> bool:
    """In a list of all, the schedule that has the time stands for the one that was accepted without.

    A group has one of them only, since its place moves with the decision.
    """
    if listing.state or listing.group:
        return listing.state in (None, found.state)
    return found.state is not State.DECIDED


def _size(original: Original | None) -> int:
    """Bytes in the answer that its client made."""
    texts = given(original.schedule.definition).values() if original else ()
    return sum(len(text.encode()) for text in texts)
