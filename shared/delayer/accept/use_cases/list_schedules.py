"""Lists the schedules of a group, or of an owner, each with its state at the moment of the answer."""

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve, frozen

from delayer.accept.ports import Registry
from delayer.accept.rules.request import Listing
from delayer.accept.rules.status import Status, outline_of, status_of
from delayer.accept.use_cases.issue import IdCheck
from delayer.actions.rules.model import ActionType
from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.history.model import Original
from delayer.history.ports import Journal, Members
from delayer.http.problem import FieldError, Invalid
from delayer.ledger.model import State
from delayer.ledger.ports import Ledger
from delayer.records.ports import Records
from delayer.schedule.instants import SECOND, STALE_AFTER, Millis
from delayer.schedule.schedule import given
from delayer.schedule.schedule_id import is_undecided, key_of

MAX_READ: Final = 1_000  # members for one page: a filter that nothing passes must not run into the timeout
AT_A_TIME: Final = 25  # records may be large, and the page full before all are read
MAX_TIME: Final[Millis] = 4 * SECOND  # after this long the page ends, full or not
PAGE_BYTES: Final = 1_500_000  # of definitions: Lambda answers with six MiB at most, escaped twice


@frozen(kw_only=True)
class Outlines:
    """One page of a list."""

    optional_journal: Journal | None  # None: it is switched off
    actions: Mapping[str, ActionType]
    observer: Observer

    def __call__(self, found: Sequence[Status], owner: str) -> list[Status]:
        """Each with its outline, if its record is in the table, or if the journal knows it: it is asked once."""
        known = self._known([one.schedule_id for one in found if one.original is None], owner)
        return [self._outlined(one, one.original or known.get(one.schedule_id)) for one in found]

    def _known(self, ids: Sequence[str], owner: str) -> Mapping[str, Original]:
        """If the journal does not answer, a list says less, and nothing else is wrong with it."""
        try:
            return self.optional_journal.beginnings(owner, ids) if self.optional_journal and ids else {}
        except Unavailable as error:
            self.observer.warn("journal not read", error=str(error))
            return {}

    def _outlined(self, status: Status, original: Original | None) -> Status:
        return evolve(status, outline=outline_of(original, self.actions)) if original else status


@frozen(kw_only=True)
class Listed:
    """A page. `after` is the id that the next one follows; empty: this was the last."""

    schedules: tuple[Status, ...]
    after: str


@frozen(kw_only=True)
class ListSchedules:
    """One call of the API."""

    clock: Clock
    ledger: Ledger
    records: Records
    registry: Registry
    listed_journal: Journal | None  # None: it is switched off, and only groups can be listed
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
        if self.listed_journal is None:
            raise Invalid([FieldError(field="group", problem="missing", allowed="a group, as the journal is off")])
        # Hardly anything is known about older ones, and their entries stay for months.
        since = max(since, self.clock.now() - STALE_AFTER)
        return self.listed_journal.owned(owner, since, until, after, at_most)

    def _find(self, ids: Sequence[str]) -> list[tuple[str, Status | None]]:
        """None for what is so old that nothing is known about it."""
        rows = self.ledger.read_all(ids)
        waiting = [one for one in ids if one not in rows or rows[one].state in (State.SCHEDULED, State.UNDECIDED)]
        records = self.records.read_all([key_of(one) for one in waiting])
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
