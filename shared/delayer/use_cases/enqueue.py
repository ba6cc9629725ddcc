"""Moves schedules into the delayer queue, as their records are deleted."""

from collections.abc import Callable, Sequence

from attrs import define, field, frozen

from delayer.core import enqueueing as core
from delayer.core.instants import Millis
from delayer.core.schedule import Schedule
from delayer.core.tenancy import tenant_of
from delayer.core.wire import encode, to_delayer
from delayer.ports import Clock, Control, Ledger, Observer, Outgoing, Queue, RecordKey, ScheduleTable, Unavailable
from delayer.use_cases.set_aside import Copy, SetAside


def key_of(schedule: Schedule) -> RecordKey:
    """Where its record stands."""
    return RecordKey(bucket=schedule.address.bucket.key, due=schedule.address.sort_key(schedule.id))


@define
class Sent:
    """What this execution environment has sent, by sequence number and id.

    While a neighbour in the batch cannot be handled, Lambda delivers the batch again and again, for hours in an outage.
    Whoever forgets, or begins anew, sends once more: the ledger refuses the second copy, but it has its price.
    """

    at_most: int = 10_000
    _sent: dict[tuple[str, str], None] = field(factory=dict)

    def __contains__(self, change: tuple[str, str]) -> bool:
        return change in self._sent

    def add(self, change: tuple[str, str]) -> None:
        """Remembers it, and forgets the oldest if there are too many."""
        self._sent[change] = None
        if len(self._sent) > self.at_most:
            del self._sent[next(iter(self._sent))]


@frozen(kw_only=True)
class Enqueue:
    """One batch of the schedules table's stream."""

    clock: Clock
    schedules: ScheduleTable
    ledger: Ledger
    control: Control
    delayer_queue: Queue
    set_aside: SetAside
    observer: Observer
    new_nonce: Callable[[], str]
    period: Millis
    sent: Sent = field(factory=Sent)

    def __call__(self, changes: Sequence[core.Change]) -> list[str]:
        """Handles all; returns the sequence numbers of those that must be delivered again.

        A record that cannot be handled as such is set aside here. Only AWS's failures are reported:
        they keep the record in the stream, and the neighbours have gone on.
        """
        decisions = [(change, self._decide(change)) for change in changes]
        self._note([d for _, d in decisions if isinstance(d, core.NoteHeartbeat)])
        return [
            *self._delete([(c, d.schedule) for c, d in decisions if isinstance(d, core.Delete)]),
            *self._send(core.side_by_side([(c, d) for c, d in decisions if isinstance(d, core.Send)])),
            *self._keep([(c, d) for c, d in decisions if isinstance(d, core.SetAside)]),
            *[c.sequence for c, d in decisions if d is None],
        ]

    def _decide(self, change: core.Change) -> core.Decision | None:
        """None: the ledger was needed and did not answer."""
        try:
            decision = core.decide(change, self.clock.now(), self.period)
            if isinstance(decision, core.AskLedger):
                return core.decide_far_removal(decision.schedule, self.ledger.read(decision.schedule.id))
        except Unavailable:
            return None
        except Exception as error:  # noqa: BLE001 - one bad record must not hold up its shard
            return core.SetAside(f"it could not be handled: {error!r}")
        return decision

    def _delete(self, nearly_due: Sequence[tuple[core.Change, Schedule]]) -> list[str]:
        """The fast track."""
        changes = {key_of(schedule): change.sequence for change, schedule in nearly_due}
        left = self.schedules.delete(list(changes)) if changes else []
        return [changes[key] for key in left]

    def _send(self, removed: Sequence[tuple[core.Change, core.Send]]) -> list[str]:
        removed = [(change, send) for change, send in removed if _name(change, send) not in self.sent]
        outgoing = [
            Outgoing(encode(to_delayer(send.schedule, self.new_nonce())), send.delay_seconds, tenant_of(send.schedule))
            for _, send in removed
        ]
        unsent = set(self.delayer_queue.send(outgoing)) if outgoing else set()
        self.observer.count("Enqueued", len(removed) - len(unsent))
        for position, (change, send) in enumerate(removed):
            if position not in unsent:
                self.sent.add(_name(change, send))
                self.observer.note("enqueued", send.schedule.id, delaySeconds=send.delay_seconds)
        return [change.sequence for position, (change, _) in enumerate(removed) if position in unsent]

    def _keep(self, poison: Sequence[tuple[core.Change, core.SetAside]]) -> list[str]:
        failed = []
        for change, decision in poison:
            schedule = decision.schedule
            try:
                self.set_aside.keep(
                    Copy(
                        body=change.raw,
                        reason=decision.reason,
                        schedule_id=schedule.id if schedule else "",
                        owner=schedule.owner if schedule else "",
                    )
                )
            except Unavailable:
                failed.append(change.sequence)
        return failed

    def _note(self, heartbeats: Sequence[core.NoteHeartbeat]) -> None:
        """A heartbeat that is not noted holds up the sweep, as it should; it need not hold up the stream as well."""
        for heartbeat in heartbeats[-1:]:
            try:
                self.control.note_heartbeat(heartbeat.sent_at)
            except Unavailable as error:
                self.observer.warn("heartbeat not noted", error=str(error))


def _name(change: core.Change, send: core.Send) -> tuple[str, str]:
    """Sequence numbers are unique within a shard only."""
    return change.sequence, send.schedule.id
