"""Decides the time of what waits for one: asks its policy, and writes the answer in one transaction (ADR 0096)."""

import traceback
from collections.abc import Callable, Sequence

from attrs import evolve, frozen

from delayer.accept.ports import NameRow, Registry, ScheduleTransaction
from delayer.accept.rules.window import policy_of
from delayer.accept.use_cases.issue import Ids
from delayer.accept.use_cases.once import ROUNDS, with_name
from delayer.connections.naming import StillNamed
from delayer.engines.ports import Clock, Observer, ReceivedMessage, Unavailable
from delayer.ledger.model import LedgerChange, LedgerRow, State
from delayer.ledger.ports import Ledger
from delayer.ledger.use_cases import settle
from delayer.records.ports import ScheduleTable
from delayer.schedule.instants import Malformed, UnknownVersion
from delayer.schedule.messages import TimingMessage, decode
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import key_of
from delayer.timing.rules import At, Chosen, Gone, TimeRefused, decide_refusal, decide_time, within_reach


@frozen(kw_only=True)
class Decide:
    """One batch of the queue of a policy."""

    clock: Clock
    waiting_records: ScheduleTable
    ledger: Ledger
    registry: Registry
    ids: Ids
    choose: Callable[[Schedule], Chosen]  # the policy; whatever it raises, it is asked again
    still_named: StillNamed
    observer: Observer

    def __call__(self, batch: Sequence[ReceivedMessage]) -> list[str]:
        """Returns the ids of the messages that SQS must deliver again, after its visibility timeout."""
        return [received.message_id for received in batch if not self._is_done(received)]

    def _is_done(self, received: ReceivedMessage) -> bool:
        """A message that cannot be read waits, since the next release may read it: its schedule is in the table."""
        schedule_id = ""
        try:
            schedule_id = decode(received.body, TimingMessage).schedule_id
            self._decide(schedule_id)
        except (Malformed, UnknownVersion, Unavailable) as error:
            return self._undone(schedule_id, error=repr(error))
        except Exception as error:  # noqa: BLE001 - its text may hold what a client sent
            return self._undone(schedule_id, error=type(error).__name__, where=traceback.format_tb(error.__traceback__))
        return True

    def _undone(self, schedule_id: str, **facts: object) -> bool:
        self.observer.count("NotDecided")
        self.observer.warn("its time is not decided", schedule_id, **facts)
        return False

    def _decide(self, schedule_id: str) -> None:
        for _ in range(ROUNDS):
            record = self.waiting_records.read(key_of(schedule_id))
            if record is None:
                self.observer.note("it does not wait any more", schedule_id)
                return
            current = self.ledger.read(schedule_id)
            if current and current.state is not State.UNDECIDED:
                self._clear_away(schedule_id, current)
                return
            if self._is_written(record, current):
                return
        raise Unavailable("others change this schedule all the time")

    def _is_written(self, record: Schedule, current: LedgerRow | None) -> bool:
        """False: something has changed meanwhile, and nothing was written."""
        match within_reach(self.choose(record), self.clock.now()):
            case TimeRefused(detail):
                self._refuse(record, detail)
                return True
            case At(instant):
                return self._is_put(record, current, instant)

    def _is_put(self, record: Schedule, current: LedgerRow | None, instant: int) -> bool:
        policy, now = policy_of(record.definition), self.clock.now()
        instant = max(instant, record.created_at)  # what is late is late since then
        put = self.ids.issue_for(instant, evolve(record.definition, when=""), record.owner, record.traits)
        change = decide_time(record.id, record.owner, current, now, put.id, f"by {policy}")
        if isinstance(change, Gone):
            return False
        connection = self.still_named(record.owner, record.definition)
        transaction = ScheduleTransaction(put=put, delete=key_of(record.id), end=change, connection=connection)
        if current and current.name:
            holder = NameRow(owner=record.owner, name=current.name, schedule_id=record.id)
            transaction = with_name(transaction, current.name, holder, now)
        if not self.registry.decide(transaction):
            return False
        self.observer.count("Decided")
        self.observer.note("decided", record.id, decidedAs=put.id, pointInTime=put.point_in_time, policy=policy)
        return True

    def _refuse(self, record: Schedule, detail: str) -> None:
        """The row first, as a cancel: who dies in between is asked again, and finds that it is over."""
        outcome = settle(
            self.ledger,
            lambda current: decide_refusal(record.id, record.owner, current, self.clock.now(), detail),
            self.ledger.read(record.id),
        )
        if isinstance(outcome, LedgerChange):
            self.observer.count("TimeRefused")
            self.observer.note("its time is refused", record.id, reason=outcome.row.detail)
        self.waiting_records.delete([key_of(record.id)])

    def _clear_away(self, schedule_id: str, row: LedgerRow) -> None:
        """A late repeat of its put brings nothing back to life."""
        self.waiting_records.delete([key_of(schedule_id)])
        self.observer.note("left over", schedule_id, state=row.state)
