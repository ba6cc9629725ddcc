"""Sends what waits for its time to the queue of its policy: from the stream of its table, and by the net (ADR 0096)."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from attrs import field, frozen

from delayer.accept.rules.window import named_in
from delayer.engines.ports import Clock, Observer, Outgoing, Queue, Unavailable
from delayer.ledger.ports import Ledger
from delayer.records.ports import Control, ScheduleTable
from delayer.schedule.instants import MINUTE, SECOND, Malformed, Millis, Minute, minute_of, start_of
from delayer.schedule.messages import TimingMessage, encode
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import address_of
from delayer.schedule.table_change import ChangeKind, RecordChange
from delayer.timing.ports import WaitingSchedule, WaitingTable
from delayer.timing.rules import FIRST, minutes_to_search, still_waits


@frozen(kw_only=True)
class AskPolicies:
    """Sends messages to the queues of the policies."""

    policy_queues: Mapping[str, Queue]  # by policy; raises KeyError for one that the stack does not have
    observer: Observer

    def send(self, waiting: Sequence[WaitingSchedule]) -> list[int]:
        """The positions of those that could not be sent.

        What has a policy that is not known waits in its table: the net finds it when there is that policy again.
        """
        by_policy: dict[str, list[int]] = {}
        for position, one in enumerate(waiting):
            try:
                name = named_in(one.when)
                _ = self.policy_queues[name]
            except (Malformed, KeyError):
                self.observer.count("NotDecided")
                self.observer.warn("waits for a policy that is not there", one.schedule_id)
                continue
            by_policy.setdefault(name, []).append(position)
        return sorted(left for name, positions in by_policy.items() for left in self._send(name, positions, waiting))

    def _send(self, policy: str, positions: Sequence[int], waiting: Sequence[WaitingSchedule]) -> list[int]:
        """To one queue."""
        messages = [TimingMessage(schedule_id=waiting[position].schedule_id) for position in positions]
        unsent = set(self.policy_queues[policy].send([Outgoing(body=encode(message)) for message in messages]))
        self.observer.count("Asked", len(messages) - len(unsent))
        return [position for number, position in enumerate(positions) if number in unsent]


@frozen(kw_only=True)
class EnqueueTiming:
    """One batch of the stream of what waits."""

    ask: AskPolicies
    ledger: Ledger
    waiting_records: ScheduleTable
    observer: Observer

    def __call__(self, changes: Sequence[RecordChange]) -> list[str]:
        """Returns the sequence numbers of those to be delivered again."""
        known = [(one, one.row) for one in changes]
        new = [(one.sequence, row) for one, row in known if one.kind is ChangeKind.INSERT and isinstance(row, Schedule)]
        gone = [
            (one.sequence, row) for one, row in known if one.kind is ChangeKind.REMOVE and isinstance(row, Schedule)
        ]
        left = self.ask.send([WaitingSchedule(schedule_id=row.id, when=row.definition.when) for _, row in new])
        return [new[position][0] for position in left] + self._look_after(gone)

    def _look_after(self, gone: Sequence[tuple[str, Schedule]]) -> list[str]:
        """A record that somebody has removed by hand is put back: nobody has cancelled it. Its INSERT asks
        its policy.
        """
        if not gone:
            return []
        try:
            rows = self.ledger.read_all([row.id for _, row in gone])
            for _, schedule in gone:
                if still_waits(rows.get(schedule.id)):
                    self.waiting_records.put(schedule)
                    self.observer.warn("removed by hand, and put back", schedule.id)
        except Unavailable as error:
            self.observer.warn("what has left the table is looked at again", error=str(error))
            return [sequence for sequence, _ in gone]
        return []


@frozen(kw_only=True)
class TimingNet:
    """Each minute: what an event or a message was lost of, or a function could not decide, is sent again."""

    clock: Clock
    control: Control
    undecided: WaitingTable
    ask: AskPolicies
    observer: Observer
    budget: Millis = field(default=40_000)  # begins no further page after this long
    at_a_time: int = 100  # schedules of a page

    def __call__(self) -> None:
        """Raises Unavailable if AWS failed; the next tick tries again."""
        until, failed = self.clock.now() + self.budget, 0
        for unsent in self.pages():
            failed += unsent
            if self.clock.now() > until:
                break
        if failed:
            raise Unavailable(f"{failed} messages to policies could not be sent; the next tick tries others")

    def pages(self) -> Iterator[int]:
        """Page after page: how many messages of each could not be sent."""
        began = self.clock.now()
        shards = self.control.shards()
        if shards is None:
            return
        oldest = [self._oldest(shard) for shard in range(shards.highest + 1)]
        since = min((one for one in oldest if one is not None), default=None)
        if since is not None:  # an idle stack writes no metric that it would pay for
            self.observer.measure_lateness(began - since, "UndecidedAge")
        for shard, first in enumerate(oldest):
            if first is not None and began - first >= FIRST[0] * MINUTE:
                yield from self._search(shard, minute_of(first), minute_of(began))

    def _oldest(self, shard: int) -> Millis | None:
        page = self.undecided.page(shard, 0, self.clock.now() + SECOND, at_most=1)
        return address_of(page.waits[0].schedule_id).due if page.waits else None

    def _search(self, shard: int, oldest: Minute, now: Minute) -> Iterator[int]:
        """All that was accepted in a minute: whoever looked at some of it only would find the same ones each time."""
        for minute in minutes_to_search(now, oldest):
            since, until, more = start_of(minute), start_of(minute + 1), ""
            while True:
                page = self.undecided.page(shard, since, until, more, self.at_a_time)
                yield len(self.ask.send(page.waits)) if page.waits else 0
                if not (more := page.more):
                    break


@frozen(kw_only=True)
class PolicyQueues(Mapping[str, Queue]):
    """The queue of each policy of the stack."""

    policies: Collection[str]
    queue_of: Callable[[str], Queue]  # by the name of the policy

    def __getitem__(self, policy: str) -> Queue:
        if policy not in self.policies:
            raise KeyError(policy)
        return self.queue_of(policy)

    def __iter__(self) -> Iterator[str]:
        return iter(self.policies)

    def __len__(self) -> int:
        return len(self.policies)
