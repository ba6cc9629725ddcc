"""Lists the schedules of a group, or of an owner, each with its state at the moment of the answer."""

from collections.abc import Sequence
from typing import Final

from attrs import frozen

from delayer.core.events import Definition
from delayer.core.instants import SECOND, Millis
from delayer.core.ledger import STALE_AFTER
from delayer.core.lifecycle import State
from delayer.core.request import FieldError, Invalid, Listing
from delayer.core.whereabouts import Found, find
from delayer.ports import Clock, Journal, Ledger, Members, Registry, ScheduleTable
from delayer.use_cases.cancel import key_of
from delayer.use_cases.issue import Ids

LOOKED_AT: Final = 1_000  # members for one page: a filter that nothing passes must not run into the timeout
AT_A_TIME: Final = 25  # records may be large, and the page full before all are read
LOOKING: Final[Millis] = 4 * SECOND  # after this long the page ends, full or not
PAGE_BYTES: Final = 1_500_000  # of definitions: Lambda answers with six MiB at most, escaped twice


@frozen
class Listed:
    """A page. `after` is the id that the next one follows; empty: this was the last."""

    schedules: tuple[Found, ...]
    after: str


@frozen(kw_only=True)
class ListSchedules:
    """One call of the API."""

    clock: Clock
    ledger: Ledger
    schedules: ScheduleTable
    registry: Registry
    journal: Journal | None  # None: it is switched off, and only groups can be listed
    ids: Ids

    def __call__(self, listing: Listing, owner: str) -> Listed:
        """Raises Unavailable if AWS failed, Invalid if the cursor is of somebody else's list.

        Of a group nothing is missing. A list of all is the journal's: what it has not heard of yet, or was accepted
        while it was off, is missing. A page may hold fewer than the limit, and have a next one.
        """
        if listing.after and not self.ids.is_genuine(listing.after, owner):
            allowed = "the nextCursor of the page before"
            raise Invalid([FieldError(field="cursor", problem="not one of ours", allowed=allowed)])
        listed: list[Found] = []
        after, room, until = listing.after, PAGE_BYTES, self.clock.now() + LOOKING
        for _ in range(LOOKED_AT // AT_A_TIME):
            # Without a filter each member is shown: more than are wanted need not be looked up.
            wanted = AT_A_TIME if listing.state else min(AT_A_TIME, listing.limit - len(listed))
            page = self._page(listing, owner, after, wanted)
            for schedule_id, found in self._find([member.schedule_id for member in page.members]):
                if found and listing.state in (None, found.state):
                    room -= _size(found.definition)
                    if len(listed) == listing.limit or (listed and room < 0):
                        return Listed(tuple(listed), after)
                    listed.append(found)
                after = schedule_id
            after = page.more
            if not after or len(listed) == listing.limit or self.clock.now() > until:
                break
        return Listed(tuple(listed), after)

    def _page(self, listing: Listing, owner: str, after: str, at_most: int) -> Members:
        since, until = listing.since, listing.until
        if listing.group:
            return self.registry.members(owner, listing.group, since, until, after, at_most)
        if self.journal is None:
            raise Invalid([FieldError(field="group", problem="missing", allowed="a group, as the journal is off")])
        # Hardly anything older is told of any more, and its entries stand for months.
        since = max(since, self.clock.now() - STALE_AFTER)
        return self.journal.owned(owner, since, until, after, at_most)

    def _find(self, ids: Sequence[str]) -> list[tuple[str, Found | None]]:
        """None for what is too old to be told anything about."""
        rows = self.ledger.read_all(ids)
        waiting = [one for one in ids if one not in rows or rows[one].state is State.SCHEDULED]
        records = self.schedules.read_all([key_of(one) for one in waiting])
        now = self.clock.now()
        told = [(one, find(one, rows.get(one), records.get(key_of(one)), now)) for one in ids]
        return [(one, found if isinstance(found, Found) else None) for one, found in told]


def _size(definition: Definition | None) -> int:
    """Of what the client made, in the answer."""
    if definition is None:
        return 0
    made = definition.schedule
    return sum(len(text.encode()) for text in (made.payload, made.action, made.tags))
