"""Lists the schedules of a group, or of an owner, each with its state at the moment of the answer."""

from typing import Final

from attrs import frozen

from delayer.core.lifecycle import State
from delayer.core.request import FieldError, Invalid, Listing
from delayer.core.whereabouts import Found, find
from delayer.core.withdrawing import Expired
from delayer.ports import Clock, Journal, Ledger, Members, Parallel, Registry, ScheduleTable
from delayer.use_cases.cancel import key_of
from delayer.use_cases.issue import Ids

LOOKED_AT: Final = 1_000  # members for one page: a filter that nothing passes must not run into the timeout
AT_A_TIME: Final = 100


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
    parallel: Parallel

    def __call__(self, listing: Listing, owner: str) -> Listed:
        """Raises Unavailable if AWS failed, Invalid if the cursor is of somebody else's list.

        What was accepted in the last seconds may be missing from a list of all groups; from one of a group, nothing.
        """
        if listing.after and not self.ids.is_genuine(listing.after, owner):
            allowed = "the nextCursor of the page before"
            raise Invalid([FieldError(field="cursor", problem="not one of ours", allowed=allowed)])
        listed: list[Found] = []
        after = listing.after
        # Without a filter each member is shown: more than are wanted need not be looked up.
        at_most = AT_A_TIME if listing.state else listing.limit
        for _ in range(LOOKED_AT // AT_A_TIME):
            page = self._page(listing, owner, after, at_most)
            for found in self.parallel.map(self._find, [member.schedule_id for member in page.members]):
                if len(listed) == listing.limit:
                    return Listed(tuple(listed), after)
                after = found.schedule_id if isinstance(found, Found) else found
                if isinstance(found, Found) and listing.state in (None, found.state):
                    listed.append(found)
            if not page.more or len(listed) == listing.limit:
                return Listed(tuple(listed), page.more)
            after = page.more
        return Listed(tuple(listed), after)

    def _page(self, listing: Listing, owner: str, after: str, at_most: int) -> Members:
        since, until = listing.since, listing.until
        if listing.group:
            return self.registry.members(owner, listing.group, since, until, after, at_most)
        if self.journal is None:
            raise Invalid([FieldError(field="group", problem="missing", allowed="a group, as the journal is off")])
        return self.journal.owned(owner, since, until, after, at_most)

    def _find(self, schedule_id: str) -> Found | str:
        """The id alone of what is too old to be told anything about."""
        row = self.ledger.read(schedule_id)
        waits = row is None or row.state is State.SCHEDULED
        record = self.schedules.read(key_of(schedule_id)) if waits else None
        found = find(schedule_id, row, record, self.clock.now())
        return schedule_id if isinstance(found, Expired) else found
