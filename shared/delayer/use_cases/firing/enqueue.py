"""Moves schedules into the delayer queue, as their records are deleted."""

import json
from collections.abc import Callable, Sequence

from attrs import define, field, frozen

from delayer.core.firing import enqueueing as core
from delayer.core.firing.message_group import message_group_of
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.messages import DelayerMessage, encode
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import key_of
from delayer.core.schedule.table_change import RecordChange
from delayer.ports.clock import Clock
from delayer.ports.control import NotesHeartbeat
from delayer.ports.ledger import ReadsLedger
from delayer.ports.observer import Observer
from delayer.ports.queue import Outgoing, SendsMessages
from delayer.ports.schedule_table import DeletesSchedules
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.recovery.dead_letter import TakesDeadLetters, Undeliverable


@define(kw_only=True)
class Sent:
    """What this execution environment has sent, by sequence number and id.

    While a neighbour in the batch cannot be handled, Lambda delivers the batch again and again, for hours in an outage.
    An environment that has forgotten, or is new, sends once more. The ledger refuses the second copy, but it costs
    requests.
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
    schedules: DeletesSchedules
    ledger: ReadsLedger
    control: NotesHeartbeat
    delayer_queue: SendsMessages
    dead_letters: TakesDeadLetters
    observer: Observer
    new_nonce: Callable[[], str]
    period: Millis
    sent: Sent = field(factory=Sent)

    def __call__(self, changes: Sequence[RecordChange]) -> list[str]:
        """Handles all; returns the sequence numbers of those that must be delivered again.

        A record that cannot be handled becomes a dead letter here. Only AWS's failures are reported: they keep the
        record in the stream, and the other records of the batch are done.
        """
        decisions = [(change, self._decide(change)) for change in changes]
        self._note([d for _, d in decisions if isinstance(d, core.NoteHeartbeat)])
        return [
            *self._delete([(c, d.schedule) for c, d in decisions if isinstance(d, core.Delete)]),
            *self.send(core.side_by_side([(c, d) for c, d in decisions if isinstance(d, core.Send)])),
            *self._dead_letter([(c, d) for c, d in decisions if isinstance(d, core.MoveToDeadLetters)]),
            *[c.sequence for c, d in decisions if d is None],
        ]

    def _decide(self, change: RecordChange) -> core.Decision | None:
        """None: the ledger was needed and did not answer."""
        try:
            decision = core.decide(change, self.clock.now(), self.period)
            if isinstance(decision, core.AskLedger):
                return core.decide_far_removal(decision.schedule, self.ledger.read(decision.schedule.id))
        except Unavailable:
            return None
        except Exception as error:  # noqa: BLE001 - one bad record must not hold up its shard
            return core.MoveToDeadLetters(reason=f"it could not be handled: {error!r}")
        return decision

    def _delete(self, nearly_due: Sequence[tuple[RecordChange, Schedule]]) -> list[str]:
        """The fast track."""
        changes = {key_of(schedule.id): change.sequence for change, schedule in nearly_due}
        left = self.schedules.delete(list(changes)) if changes else []
        return [changes[key] for key in left]

    def send(self, removed: Sequence[tuple[RecordChange, core.Send]]) -> list[str]:
        """Sends what this environment has not sent yet. The sequence numbers of those to be delivered again."""
        removed = [(change, send) for change, send in removed if _name(change, send) not in self.sent]
        outgoing = [
            Outgoing(
                body=encode(self.message(send.schedule)),
                delay_seconds=send.delay_seconds,
                message_group=message_group_of(send.schedule),
            )
            for _, send in removed
        ]
        unsent = set(self.delayer_queue.send(outgoing)) if outgoing else set()
        self.observer.count("Enqueued", len(removed) - len(unsent))
        for position, (change, send) in enumerate(removed):
            if position not in unsent:
                self.sent.add(_name(change, send))
                self.observer.note("enqueued", send.schedule.id, delaySeconds=send.delay_seconds)
        return [change.sequence for position, (change, _) in enumerate(removed) if position in unsent]

    def message(self, schedule: Schedule) -> DelayerMessage:
        """Each send has a nonce of its own (ADR 0018)."""
        return DelayerMessage(schedule=schedule, nonce=self.new_nonce())

    def _dead_letter(self, poison: Sequence[tuple[RecordChange, core.MoveToDeadLetters]]) -> list[str]:
        failed = []
        for change, decision in poison:
            schedule = decision.schedule
            try:
                self.dead_letters.take(
                    Undeliverable(
                        body=json.dumps(change.record),
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


def _name(change: RecordChange, send: core.Send) -> tuple[str, str]:
    """Sequence numbers are unique within a shard only."""
    return change.sequence, send.schedule.id
