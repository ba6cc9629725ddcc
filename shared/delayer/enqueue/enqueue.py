"""Moves schedules into the delayer queue, as their records are deleted."""

import hashlib
import json
from collections.abc import Callable, Container, Sequence
from functools import partial
from typing import ClassVar, Generic, TypeVar

from attrs import define, field, frozen

from delayer.actions.rules.message_group import message_group_of
from delayer.dead_letters.dead_letter import TakesDeadLetters, Undeliverable
from delayer.dead_letters.model import WaitingRecords
from delayer.dead_letters.ports import DeadLetterStore
from delayer.engines.ports import Clock, Observer, Outgoing, Queue, Unavailable
from delayer.enqueue import rules
from delayer.ledger.ports import Ledger
from delayer.records.ports import Control, ScheduleTable
from delayer.recovery.guard import finish_trial, read_of_suspect
from delayer.recovery.ports import Trials
from delayer.recovery.rules import LONE_AGE, GiveUpSuspect, SetAsideSuspect, Try, decide_record_trial, decide_trial
from delayer.schedule.instants import Millis
from delayer.schedule.messages import DelayerMessage, encode
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import key_of
from delayer.schedule.table_change import Heartbeat, RecordChange, left_at

Decided = TypeVar("Decided")  # what is decided on one stream alone


@define(kw_only=True)
class Sent:
    """The messages that this execution environment has sent, by sequence number and id.

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
class Ready:
    """A message that is ready to be sent, and the record that it is made of."""

    change: RecordChange
    schedule: Schedule
    outgoing: Outgoing

    @property
    def name(self) -> tuple[str, str]:
        """Sequence numbers are unique within a shard only."""
        return self.change.sequence, self.schedule.id


@frozen(kw_only=True)
class StreamBatch(Generic[Decided]):
    """One batch of the stream of a table whose records are nowhere else once they were removed.

    What all such streams have in common: a record that cannot be handled keeps its shard waiting for a while only.
    """

    claims: ClassVar[bool] = False  # whether a record claims its schedule itself, with its id as the nonce

    clock: Clock
    trials: Trials
    dead_letters: TakesDeadLetters
    dead_letter_store: DeadLetterStore
    observer: Observer

    def __call__(self, changes: Sequence[RecordChange], *, brought_back: bool = False) -> list[str]:
        """Handles all; returns the sequence numbers of those that must be delivered again.

        What is malformed becomes a dead letter here. What AWS does not let us handle is reported: that keeps the record
        in the stream, and the other records of the batch are done. What our own code fails at, and what has been
        reported for long, is set aside: the minute task brings it back, and then it is only reported.
        """
        if len(changes) == 1 and (brought_back or rules.age(changes[0], self.clock.now()) > LONE_AGE):
            return self._alone(changes[0], brought_back)
        return self.handle(changes, brought_back)

    def handle(self, changes: Sequence[RecordChange], brought_back: bool) -> list[str]:
        """As `__call__`, for what is no suspect."""
        decisions = [(change, self._decided(change)) for change in changes]
        beyond_us = [(c, d.reason) for c, d in decisions if isinstance(d, rules.SetAside)]
        failed = [
            *self.act([(c, d) for c, d in decisions if d is not None], beyond_us),
            *self.dead_letter([(c, d) for c, d in decisions if isinstance(d, rules.MoveToDeadLetters)]),
            *[c.sequence for c, d in decisions if d is None],
        ]
        passing = {type(d) for c, d in decisions if d and c.sequence not in failed} - rules.NEEDS_NOTHING
        if passing:
            self.note_pass()
        if brought_back:
            return failed + [change.sequence for change, _ in beyond_us]
        with_others = {c.sequence for c, d in decisions if type(d) in passing}
        return self._make_way(changes, failed, beyond_us, with_others)

    def _decided(self, change: RecordChange) -> Decided | rules.Common | None:
        """None: the ledger was needed and did not answer."""
        try:
            return self.decide(change)
        except Unavailable:
            return None
        except Exception as error:  # noqa: BLE001 - a defect of ours is no fault of the record, nor of its shard
            return rules.unhandled(change, error)

    def decide(self, change: RecordChange) -> Decided | rules.Common:
        """Decides about one change. Raises Unavailable if the ledger is needed and does not answer."""
        raise NotImplementedError

    def act(
        self,
        decisions: Sequence[tuple[RecordChange, Decided | rules.Common]],
        beyond_us: list[tuple[RecordChange, str]],
    ) -> list[str]:
        """Does what this stream is for. The sequence numbers of those to be delivered again.

        If our code fails at one, it goes to `beyond_us`.
        """
        raise NotImplementedError

    def note_pass(self) -> None:
        """Something came to its end. A function to which heartbeats come need not note that."""

    def passed(self) -> Millis | None:
        """When this function last came to the end of something; None if that is not known. Raises Unavailable."""
        raise NotImplementedError

    def _alone(self, change: RecordChange, brought_back: bool) -> list[str]:
        """It may be the one that this function dies of, or be there by chance: a note tells, before it is touched."""
        suspect = hashlib.sha256(json.dumps(change.record, default=str).encode()).hexdigest()[:32]
        now = self.clock.now()
        try:
            before, passed = self.trials.unfinished(suspect), self.passed()
            # No shard waits for what was brought back: it is tried once more.
            decision = (
                decide_trial(before, passed, 0, now)
                if brought_back
                else decide_record_trial(before, passed, change.at, now)
            )
            if isinstance(decision, Try):
                self.trials.begin(suspect, decision.trial)
        except Unavailable as error:
            self.observer.warn("a suspect of the stream waits", error=str(error))
            if brought_back or not rules.gives_way(change, now, others_pass=False):
                return [change.sequence]
            return self.set_aside([(change, "the control rows did not answer")])
        match decision:
            case Try():
                failed = self._tried(change, brought_back)
            case GiveUpSuspect(reason):
                failed = self._give_up(change, suspect, reason)
                if failed:
                    return failed  # it stays known as a killer
            case SetAsideSuspect():
                return self.set_aside([(change, "its function died of it")])
        finish_trial(
            partial(self.trials.finish, suspect),
            began=now,
            comes_again=bool(failed),
            clock=self.clock,
            observer=self.observer,
        )
        return failed

    def _give_up(self, change: RecordChange, suspect: str, reason: str) -> list[str]:
        """If even reading it kills the function, it is stored unread."""
        try:
            row = read_of_suspect(self.trials, suspect, change.read, self.clock, self.observer)
        except Unavailable as error:
            self.observer.warn("a suspect of the stream waits", error=str(error))
            return [change.sequence]
        schedule = row if isinstance(row, Schedule) else None
        return self.dead_letter([(change, rules.MoveToDeadLetters(reason=reason, schedule=schedule))])

    def _tried(self, change: RecordChange, brought_back: bool) -> list[str]:
        """The function is alive after it, whatever it raises: this is no killer. Reading it may be what raises."""
        try:
            return self.handle([change], brought_back)
        except Exception as error:  # noqa: BLE001 - a defect of ours is no fault of the record, nor of its shard
            return [change.sequence] if brought_back else self.set_aside([(change, repr(error))])

    def dead_letter(self, poison: Sequence[tuple[RecordChange, rules.MoveToDeadLetters]]) -> list[str]:
        """Stores each whole. The sequence numbers of those that must be delivered again."""
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
                        nonce=change.event if self.claims else "",
                        enqueued_at=_left_at(change, schedule),
                    )
                )
            except Unavailable:
                failed.append(change.sequence)
        return failed

    def _make_way(
        self,
        changes: Sequence[RecordChange],
        failed: Sequence[str],
        beyond_us: Sequence[tuple[RecordChange, str]],
        with_others: Container[str],
    ) -> list[str]:
        """Returns the records that are still to be reported, after those that keep the shard waiting were set aside.

        `with_others` has the sequence numbers of those beside which others of the same decision were done: what they
        need of AWS is there.
        """
        now = self.clock.now()
        held = [change for change in changes if change.sequence in failed]
        old = [one for one in held if rules.gives_way(one, now, others_pass=one.sequence in with_others)]
        left = self.set_aside([*beyond_us, *((change, "AWS did not let us handle it") for change in old)])
        return left + [change.sequence for change in held if change not in old]

    def set_aside(self, beyond_us: Sequence[tuple[RecordChange, str]]) -> list[str]:
        """Stores records whole, in one object. The sequence numbers of those that must be delivered again."""
        if not beyond_us:
            return []
        reasons = sorted({reason for _, reason in beyond_us})
        records = tuple(change.record for change, _ in beyond_us)
        try:
            self.dead_letter_store.set_aside(
                WaitingRecords(records=records, reason="; ".join(reasons), at=self.clock.now())
            )
        except Unavailable as error:
            self.observer.warn("not set aside", error=str(error))
            return [change.sequence for change, _ in beyond_us]
        self.observer.count("SetAside", len(records))
        self.observer.warn("set aside", records=len(records), reasons=reasons)
        return []


@frozen(kw_only=True)
class Enqueue(StreamBatch[rules.Own]):
    """One batch of the schedules table's stream."""

    control: Control
    schedules: ScheduleTable
    ledger: Ledger
    delayer_queue: Queue
    new_token: Callable[[], str]
    period: Millis
    sent: Sent = field(factory=Sent)

    def act(
        self,
        decisions: Sequence[tuple[RecordChange, rules.Decision]],
        beyond_us: list[tuple[RecordChange, str]],
    ) -> list[str]:
        """As StreamBatch."""
        self._note([d.heartbeat for _, d in decisions if isinstance(d, rules.NoteHeartbeat)])
        sends = rules.side_by_side([(c, d) for c, d in decisions if isinstance(d, rules.Send)])
        deleted = self._delete([(c, d.schedule) for c, d in decisions if isinstance(d, rules.DeleteRecord)])
        return deleted + self.send(self._messages(sends, beyond_us))

    def passed(self) -> Millis | None:
        """A heartbeat comes through this function each minute."""
        return self.control.heartbeats().seen

    def decide(self, change: RecordChange) -> rules.Decision:
        """As StreamBatch."""
        decision = rules.decide(change, self.clock.now(), self.period)
        if isinstance(decision, rules.AskLedger):
            return rules.decide_far_removal(decision.schedule, self.ledger.read(decision.schedule.id))
        return decision

    def _delete(self, nearly_due: Sequence[tuple[RecordChange, Schedule]]) -> list[str]:
        """The fast track. What is not deleted for long is left to the sweep."""
        changes = {key_of(schedule.id): change for change, schedule in nearly_due}
        left = [changes[key] for key in self.schedules.delete(list(changes))] if changes else []
        now = self.clock.now()
        for change in left:
            if rules.leaves_to_the_sweep(change, now):
                self.observer.warn("left to the sweep", sequence=change.sequence)
        return [change.sequence for change in left if not rules.leaves_to_the_sweep(change, now)]

    def _messages(
        self, removed: Sequence[tuple[RecordChange, rules.Send]], beyond_us: list[tuple[RecordChange, str]]
    ) -> list[Ready]:
        """The schedules that this environment has not sent yet. If our code fails at one, it goes to `beyond_us`."""
        ready = []
        for change, send in removed:
            try:
                outgoing = Outgoing(
                    body=encode(self.message(send.schedule, change)),
                    delay_seconds=send.delay_seconds,
                    message_group=message_group_of(send.schedule),
                )
            except Exception as error:  # noqa: BLE001 - it is no fault of its neighbours
                beyond_us.append((change, repr(error)))
                continue
            one = Ready(change=change, schedule=send.schedule, outgoing=outgoing)
            if one.name not in self.sent:
                ready.append(one)
        return ready

    def send(self, ready: Sequence[Ready]) -> list[str]:
        """Sends all. The sequence numbers of those to be delivered again."""
        unsent = set(self.delayer_queue.send([one.outgoing for one in ready])) if ready else set()
        self.observer.count("Enqueued", len(ready) - len(unsent))
        for position, one in enumerate(ready):
            if position not in unsent:
                self.sent.add(one.name)
                self.observer.note("enqueued", one.schedule.id, delaySeconds=one.outgoing.delay_seconds)
        return [one.change.sequence for position, one in enumerate(ready) if position in unsent]

    def message(self, schedule: Schedule, change: RecordChange) -> DelayerMessage:
        """Each send has a nonce of its own (ADR 0018)."""
        left = left_at(change.kind, schedule, change.at, expired=change.expired)
        return DelayerMessage(schedule=schedule, nonce=self.new_token(), enqueued_at=left)

    def _note(self, heartbeats: Sequence[Heartbeat]) -> None:
        """The sweep waits for a heartbeat that is not noted, as it should; the stream need not wait as well."""
        of_lanes = [one for one in heartbeats if one.lane]
        try:
            for heartbeat in [one for one in heartbeats if not one.lane][-1:]:
                self.control.note_heartbeat(heartbeat.sent_at)
            if of_lanes:
                self.control.note_lanes(of_lanes)
        except Unavailable as error:
            self.observer.warn("heartbeat not noted", error=str(error))


def _left_at(change: RecordChange, schedule: Schedule | None) -> Millis:
    return left_at(change.kind, schedule, change.at, expired=change.expired) if schedule else 0
