"""Fires what DynamoDB's TTL has removed from the relaxed table (ADR 0097)."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import define, field, frozen

from delayer.engines.ports import Queue, ReceivedMessage, Unavailable
from delayer.enqueue.enqueue import StreamBatch
from delayer.enqueue.rules import AskLedger, MoveToDeadLetters, SetAside, unhandled
from delayer.ledger.ports import LedgerInBatches
from delayer.recovery.guard import NOTED_EVERY
from delayer.recovery.ports import Trials
from delayer.relay import rules
from delayer.relay.relay import Held
from delayer.schedule.instants import Millis
from delayer.schedule.messages import DelayerMessage
from delayer.schedule.table_change import RecordChange


class HandsOver(Protocol):
    """Hands claimed schedules over to their executors, or drops what is too late: the use case HandOver."""

    @property
    def executor_queues(self) -> Mapping[str, Queue]:
        """By action type."""
        ...

    def hand_over(self, ready: Sequence[Held]) -> list[str]:
        """As HandOver."""
        ...

    def drop(self, late: Sequence[tuple[Held, str]]) -> list[str]:
        """As HandOver."""
        ...


@define
class Noted:
    """When this execution environment last noted that something passed."""

    at: Millis = 0


@frozen(kw_only=True)
class ClaimRelaxed(StreamBatch):
    """One batch of the relaxed table's stream."""

    claims = True  # who dies after the claim, and is given up, leaves no other copy

    trials: Trials
    ledger_in_batches: LedgerInBatches
    firing: HandsOver
    source: str  # its name
    noted: Noted = field(factory=Noted)

    def handle(self, changes: Sequence[RecordChange], brought_back: bool) -> list[str]:
        """As `__call__`, for what is no suspect.

        What is claimed and was not handed over is reported, too: it comes again, and goes on when the lease is over.
        """
        decisions = [(change, self._decide(change)) for change in changes]
        beyond_us = [(c, d.reason) for c, d in decisions if isinstance(d, SetAside)]
        ready = [_held(c, d.message) for c, d in decisions if isinstance(d, rules.Fire)]
        late = [(_held(c, d.message), d.reason) for c, d in decisions if isinstance(d, rules.DropLate)]
        failed = [
            *self._fire(ready),
            *(self.firing.drop(late) if late else []),
            *self.dead_letter([(c, d) for c, d in decisions if isinstance(d, MoveToDeadLetters)]),
            *[c.sequence for c, d in decisions if d is None],
        ]
        if any(c.sequence not in failed for c, d in decisions if type(d) not in rules.NEEDS_NOTHING):
            self._note_pass()
        if brought_back:
            return failed + [change.sequence for change, _ in beyond_us]
        passing = {type(d) for c, d in decisions if d and c.sequence not in failed} - rules.NEEDS_NOTHING
        with_others = {c.sequence for c, d in decisions if type(d) in passing}
        return self.make_way(changes, failed, beyond_us, with_others)

    def passed(self) -> Millis | None:
        """No heartbeat comes through this stream. If all that comes dies, the fault is the function's."""
        return self.trials.passed(self.source)

    def _note_pass(self) -> None:
        """It only matters to suspects: a note that cannot be made is left out."""
        now = self.clock.now()
        if now - self.noted.at < NOTED_EVERY:
            return
        try:
            self.trials.note_pass(self.source, now)
        except Unavailable as error:
            self.observer.warn("not noted that others pass", error=str(error))
            return
        self.noted.at = now

    def _decide(self, change: RecordChange) -> rules.RelaxedDecision | None:
        """None: the ledger was needed and did not answer."""
        try:
            decision = rules.decide_relaxed(change, self.clock.now(), self.firing.executor_queues)
            if isinstance(decision, AskLedger):
                return rules.decide_other_removal(decision.schedule, self.ledger_in_batches.read(decision.schedule.id))
        except Unavailable:
            return None
        except Exception as error:  # noqa: BLE001 - a defect of ours is no fault of the record, nor of its shard
            return unhandled(change, error)
        return decision

    def _fire(self, ready: Sequence[Held]) -> list[str]:
        """DynamoDB's clock may be ahead of this one: nothing is claimed before its point in time."""
        if not ready:
            return []
        self.clock.sleep_until(max(one.message.schedule.point_in_time for one in ready))
        return self.firing.hand_over(ready)


def _held(change: RecordChange, message: DelayerMessage) -> Held:
    """Its sequence number stands in the place of the id of a message."""
    return Held(received=ReceivedMessage(message_id=change.sequence, body=""), message=message)
