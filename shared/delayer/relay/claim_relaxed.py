"""Fires what DynamoDB's TTL has removed from the relaxed table (ADR 0097)."""

from collections.abc import Sequence

from attrs import define, field, frozen

from delayer.enqueue.enqueue import StreamBatch
from delayer.enqueue.rules import AskLedger
from delayer.flow.rules.gate import Go
from delayer.ledger.ports import LedgerInBatches
from delayer.recovery.guard import note_pass
from delayer.relay import rules
from delayer.relay.relay import HandOver
from delayer.schedule.instants import Millis
from delayer.schedule.table_change import RecordChange


@define
class Noted:
    """When this execution environment last noted that something passed."""

    at: Millis = 0


@frozen(kw_only=True)
class ClaimRelaxed(StreamBatch[rules.Ready]):
    """One batch of the relaxed table's stream.

    What is claimed and was not handed over is reported, too: it comes again, and goes on when the lease is over.
    """

    claims = True  # who dies after the claim, and is given up, leaves no other copy

    ledger_in_batches: LedgerInBatches
    firing: HandOver
    source: str  # its name
    noted: Noted = field(factory=Noted)

    def decide(self, change: RecordChange) -> rules.RelaxedDecision:
        """As StreamBatch."""
        decision = rules.decide_relaxed(change, self.clock.now(), self.firing.executor_queues)
        if isinstance(decision, AskLedger):
            return rules.decide_other_removal(decision.schedule, self.ledger_in_batches.read(decision.schedule.id))
        return decision

    def act(
        self,
        decisions: Sequence[tuple[RecordChange, rules.RelaxedDecision]],
        beyond_us: list[tuple[RecordChange, str]],  # noqa: ARG002
    ) -> list[str]:
        """As StreamBatch. DynamoDB's clock may be ahead of this one: nothing is claimed before its point in time."""
        ready = {c.sequence: d for c, d in decisions if isinstance(d, Go)}
        late = {c.sequence: d for c, d in decisions if isinstance(d, rules.DropLate)}
        self.clock.sleep_until(max((one.at for one in ready.values()), default=0))
        return self.firing.hand_over(ready) + self.firing.hand_over(late)

    def passed(self) -> Millis | None:
        """No heartbeat comes through this stream. If all that comes dies, the fault is the function's."""
        return self.trials.passed(self.source)

    def note_pass(self) -> None:
        """As StreamBatch."""
        self.noted.at = note_pass(self.trials, self.source, self.noted.at, self.clock, self.observer)
