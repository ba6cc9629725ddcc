"""The journal, and the counts that quotas go by."""

from collections import Counter
from collections.abc import Sequence

from attrs import Factory, define

from delayer.core.history.events import Event, expiry_of
from delayer.core.ledger.lifecycle import EventType
from delayer.core.schedule.instants import DAY, Millis
from delayer.core.schedule.schedule_id import address_of
from delayer.fakes.tables.registry import NOBODY, InDueOrder
from delayer.ports.journal import JournalEntry, PastOccurrence, PastOccurrences
from delayer.ports.registry import Member, Members

SPAN = 28 * DAY


@define
class MemoryJournal:
    """Port Journal."""

    histories: dict[str, dict[str, Event]] = Factory(dict)
    beginnings: dict[tuple[str, str], Event] = Factory(dict)  # by owner and schedule
    owners: dict[str, InDueOrder] = Factory(dict)
    expires: dict[str, Millis] = Factory(dict)  # when an event may be forgotten, by its id
    series: dict[tuple[str, str], dict[str, PastOccurrence]] = Factory(dict)

    def write(self, entries: Sequence[JournalEntry], keep_for: Millis) -> list[int]:
        for entry in entries:
            event = entry.event
            self.expires[event.id] = expiry_of(event, keep_for)
            if event.type is not EventType.SCHEDULED:
                self.histories.setdefault(event.schedule_id, {})[event.id] = event
            else:
                self.beginnings[event.owner, event.schedule_id] = event
                member = Member(schedule_id=event.schedule_id, created_at=event.at)
                self.owners.setdefault(event.owner, InDueOrder())[event.schedule_id] = member
            if which := entry.occurrence:
                past = PastOccurrence(schedule_id=event.schedule_id, number=which.number, time=which.time)
                self.series.setdefault((event.owner, which.series), {})[event.schedule_id] = past
        return []

    def history(self, schedule_id: str, owner: str) -> tuple[Event, ...]:
        events = [*self.histories.get(schedule_id, {}).values()]
        if beginning := self.beginnings.get((owner, schedule_id)):
            events.append(beginning)
        return tuple(sorted(events, key=lambda event: event.order))

    def owned(self, owner: str, since: Millis, until: Millis, after: str, at_most: int) -> Members:
        return self.owners.get(owner, NOBODY).page(since, until, after, at_most)

    def occurrences(self, owner: str, series: str, after: str, at_most: int) -> PastOccurrences:
        found = self.series.get((owner, series), {})
        rest = [one for one in sorted(found, key=_place, reverse=True) if not after or _place(one) < _place(after)]
        page = tuple(found[one] for one in rest[:at_most])
        return PastOccurrences(occurrences=page, more=rest[at_most - 1] if len(rest) > at_most else "")


@define
class MemoryRateLimit:
    """Port RateLimit."""

    spent: Counter[tuple[str, str]] = Factory(Counter)
    expires: dict[tuple[str, str], Millis] = Factory(dict)

    def spend(self, owner: str, window: str, at_most: int, expires_at: Millis) -> bool:
        if self.spent[owner, window] >= at_most:
            return False
        self.spent[owner, window] += 1
        self.expires[owner, window] = expires_at
        return True


@define
class MemoryLiveCount:
    """Port LiveCount."""

    counted: dict[str, bool] = Factory(dict)  # whether it is live, by its id
    counts: Counter[tuple[str, int]] = Factory(Counter)  # by owner, and the span of four weeks in which they are due
    expires: dict[str, Millis] = Factory(dict)  # when it may be forgotten that it was counted

    def started(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        self.expires[schedule_id] = expires_at
        if schedule_id not in self.counted:
            self.counted[schedule_id] = True
            self.counts[owner, _span(schedule_id)] += 1

    def ended(self, owner: str, schedule_id: str, expires_at: Millis) -> None:
        self.expires[schedule_id] = expires_at
        if self.counted.get(schedule_id):
            self.counts[owner, _span(schedule_id)] -= 1
        self.counted[schedule_id] = False

    def live(self, owner: str, now: Millis) -> int:
        first = now // SPAN - 1
        return max(sum(number for (whose, span), number in self.counts.items() if whose == owner and span >= first), 0)


def _place(schedule_id: str) -> tuple[Millis, str]:
    return address_of(schedule_id).due, schedule_id


def _span(schedule_id: str) -> int:
    return address_of(schedule_id).due // SPAN
