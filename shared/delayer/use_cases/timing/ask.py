"""Sends what waits for its time to the queue of its policy: from the stream of its table, and by the net (ADR 0096)."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from attrs import field, frozen

from delayer.core.schedule.instants import MINUTE, SECOND, Millis, Minute, minute_of, start_of
from delayer.core.schedule.malformed import Malformed
from delayer.core.schedule.messages import TimingMessage, encode
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import address_of
from delayer.core.schedule.table_change import Kind, RecordChange
from delayer.core.timing.deciding import still_waits
from delayer.core.timing.net import FIRST, minutes_to_search
from delayer.core.timing.policy import named_in
from delayer.ports.clock import Clock
from delayer.ports.control import ReadsShards
from delayer.ports.ledger import ReadsManyRows
from delayer.ports.observer import Observer
from delayer.ports.queue import Outgoing, SendsMessages
from delayer.ports.schedule_table import PutsSchedules
from delayer.ports.unavailable import Unavailable
from delayer.ports.waiting_table import FindsWaiting, Waits


@frozen(kw_only=True)
class AskPolicies:
    """Whoever sends messages to the queues of the policies."""

    queues: Mapping[str, SendsMessages]  # by policy; raises KeyError for one that the stack does not have
    observer: Observer

    def send(self, waiting: Sequence[Waits]) -> list[int]:
        """The positions of those that could not be sent.

        What has a policy that is not known waits in its table: the net finds it when there is that policy again.
        """
        by_policy: dict[str, list[int]] = {}
        for position, one in enumerate(waiting):
            try:
                name = named_in(one.when)
                _ = self.queues[name]
            except (Malformed, KeyError):
                self.observer.count("NotDecided")
                self.observer.warn("waits for a policy that is not there", one.schedule_id)
                continue
            by_policy.setdefault(name, []).append(position)
        return sorted(left for name, positions in by_policy.items() for left in self._send(name, positions, waiting))

    def _send(self, policy: str, positions: Sequence[int], waiting: Sequence[Waits]) -> list[int]:
        """To one queue."""
        messages = [TimingMessage(schedule_id=waiting[position].schedule_id) for position in positions]
        unsent = set(self.queues[policy].send([Outgoing(body=encode(message)) for message in messages]))
        self.observer.count("Asked", len(messages) - len(unsent))
        return [position for number, position in enumerate(positions) if number in unsent]


@frozen(kw_only=True)
class EnqueueTiming:
    """One batch of the stream of what waits."""

    ask: AskPolicies
    ledger: ReadsManyRows
    records: PutsSchedules
    observer: Observer

    def __call__(self, changes: Sequence[RecordChange]) -> list[str]:
        """Returns the sequence numbers of those to be delivered again."""
        known = [(one, one.row) for one in changes]
        new = [(one.sequence, row) for one, row in known if one.kind is Kind.INSERT and isinstance(row, Schedule)]
        gone = [(one.sequence, row) for one, row in known if one.kind is Kind.REMOVE and isinstance(row, Schedule)]
        left = self.ask.send([Waits(schedule_id=row.id, when=row.definition.when) for _, row in new])
        return [new[position][0] for position in left] + self._look_after(gone)

    def _look_after(self, gone: Sequence[tuple[str, Schedule]]) -> list[str]:
        """What somebody has removed by hand is put back: nobody has cancelled it. Its INSERT asks its policy."""
        if not gone:
            return []
        try:
            rows = self.ledger.read_all([row.id for _, row in gone])
            for _, schedule in gone:
                if still_waits(rows.get(schedule.id)):
                    self.records.put(schedule)
                    self.observer.warn("removed by hand, and put back", schedule.id)
        except Unavailable as error:
            self.observer.warn("what has left the table is looked at again", error=str(error))
            return [sequence for sequence, _ in gone]
        return []


@frozen(kw_only=True)
class TimingNet:
    """Each minute: what an event or a message was lost of, or a function could not decide, is sent again."""

    clock: Clock
    control: ReadsShards
    waiting: FindsWaiting
    ask: AskPolicies
    observer: Observer
    budget: Millis = field(default=40_000)  # begins no further page after this long

    def __call__(self) -> None:
        """Raises Unavailable if AWS failed; the next tick tries again."""
        began = self.clock.now()
        shards = self.control.shards()
        if shards is None:
            return
        oldest = [self._oldest(shard) for shard in range(shards.highest + 1)]
        since = min((one for one in oldest if one is not None), default=None)
        if since is not None:  # an idle stack writes no metric that it would pay for
            self.observer.measure_lateness(began - since, "UndecidedAge")
        failed = 0
        for shard, first in enumerate(oldest):
            if first is not None and began - first >= FIRST[0] * MINUTE:
                failed += self._search(shard, minute_of(first), minute_of(began), began + self.budget)
        if failed:
            raise Unavailable(f"{failed} messages to policies could not be sent; the next tick tries others")

    def _oldest(self, shard: int) -> Millis | None:
        page = self.waiting.page(shard, 0, self.clock.now() + SECOND, at_most=1)
        return address_of(page.waits[0].schedule_id).due if page.waits else None

    def _search(self, shard: int, oldest: Minute, now: Minute, until: Millis) -> int:
        """How many could not be sent."""
        return sum(self._minute(shard, minute, until) for minute in minutes_to_search(now, oldest))

    def _minute(self, shard: int, minute: Minute, until: Millis) -> int:
        """All that was accepted then: whoever looked at some of it only would find the same ones each time."""
        failed, after = 0, ""
        while self.clock.now() <= until:
            page = self.waiting.page(shard, start_of(minute), start_of(minute + 1), after)
            failed += len(self.ask.send(page.waits)) if page.waits else 0
            after = page.more
            if not after:
                break
        return failed


@frozen(kw_only=True)
class PolicyQueues(Mapping[str, SendsMessages]):
    """The queue of each policy of the stack."""

    policies: Collection[str]
    queue_of: Callable[[str], SendsMessages]  # by the name of the policy

    def __getitem__(self, policy: str) -> SendsMessages:
        if policy not in self.policies:
            raise KeyError(policy)
        return self.queue_of(policy)

    def __iter__(self) -> Iterator[str]:
        return iter(self.policies)

    def __len__(self) -> int:
        return len(self.policies)
