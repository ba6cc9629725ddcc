"""Fires what DynamoDB's TTL has removed from the relaxed table (ADR 0097)."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from attrs import frozen

from delayer.core.firing import relaxed as core
from delayer.core.firing.enqueueing import AskLedger, MoveToDeadLetters, SetAside, unhandled
from delayer.core.schedule.messages import DelayerMessage
from delayer.core.schedule.table_change import RecordChange
from delayer.ports.ledger import ReadsLedger
from delayer.ports.queue import ReceivedMessage, SendsMessages
from delayer.ports.unavailable import Unavailable
from delayer.use_cases.firing.enqueue import StreamBatch
from delayer.use_cases.firing.relay import Held


class HandsOver(Protocol):
    """Part of HandOver."""

    @property
    def executor_queues(self) -> Mapping[str, SendsMessages]:
        """By action type."""
        ...

    def hand_over(self, ready: Sequence[Held]) -> list[str]:
        """As HandOver."""
        ...

    def drop(self, late: Sequence[tuple[Held, str]]) -> list[str]:
        """As HandOver."""
        ...


@frozen(kw_only=True)
class ClaimRelaxed(StreamBatch):
    """One batch of the relaxed table's stream."""

    claims = True  # who dies after the claim, and is given up, leaves no other copy

    ledger: ReadsLedger
    firing: HandsOver

    def handle(self, changes: Sequence[RecordChange], brought_back: bool) -> list[str]:
        """As `__call__`, for what is no suspect.

        What is claimed and was not handed over is reported, too: it comes again, and goes on when the lease is over.
        """
        decisions = [(change, self._decide(change)) for change in changes]
        beyond_us = [(c, d.reason) for c, d in decisions if isinstance(d, SetAside)]
        ready = [_held(c, d.message) for c, d in decisions if isinstance(d, core.Fire)]
        late = [(_held(c, d.message), d.reason) for c, d in decisions if isinstance(d, core.DropLate)]
        failed = [
            *self._fire(ready),
            *(self.firing.drop(late) if late else []),
            *self.dead_letter([(c, d) for c, d in decisions if isinstance(d, MoveToDeadLetters)]),
            *[c.sequence for c, d in decisions if d is None],
        ]
        if brought_back:
            return failed + [change.sequence for change, _ in beyond_us]
        passing = {type(d) for c, d in decisions if d and c.sequence not in failed} - core.NEEDS_NOTHING
        with_others = {c.sequence for c, d in decisions if type(d) in passing}
        return self.make_way(changes, failed, beyond_us, with_others)

    def _decide(self, change: RecordChange) -> core.Decision | None:
        """None: the ledger was needed and did not answer."""
        try:
            decision = core.decide(change, self.clock.now(), self.firing.executor_queues)
            if isinstance(decision, AskLedger):
                return core.decide_other_removal(decision.schedule, self.ledger.read(decision.schedule.id))
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
