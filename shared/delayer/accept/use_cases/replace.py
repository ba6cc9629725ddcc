"""Puts one schedule in the place of another: all of it, or nothing (ADR 0041)."""

from typing import Final, Protocol

from attrs import evolve, frozen

from delayer.accept.ports import NameRow, Registry, ScheduleTransaction
from delayer.accept.rules.admission import Actions, check_payload
from delayer.accept.rules.request import ScheduleRequest
from delayer.accept.rules.status import (
    Expired,
    Masked,
    MayBeRunning,
    NameTaken,
    NotFound,
    OnItsWay,
    TooLate,
    decide_replace,
    is_foreign,
    is_live,
    is_over,
)
from delayer.accept.rules.window import reopened
from delayer.accept.use_cases.issue import Ids
from delayer.accept.use_cases.once import NO_KEY, ROUNDS, Answered, KnownKey, Once, with_name
from delayer.connections.naming import Naming
from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.history.model import SeriesRefuses, original_in
from delayer.history.ports import Journal
from delayer.ledger.model import LedgerChange, LedgerRow, State, signed, waits_after_a_redrive
from delayer.ledger.ports import Ledger
from delayer.owners.quota import Quota
from delayer.records.ports import Records
from delayer.schedule.instants import Millis
from delayer.schedule.misfire import asked_for_again
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import IdKind, is_occurrence, is_undecided, key_of, kind_of

REPLACEABLE: Final = frozenset({State.SCHEDULED, State.UNDECIDED, State.DEAD_LETTERED, State.FAILED})


@frozen(kw_only=True)
class Replaced:
    """It is stored. `previous` is the id of the schedule whose place it took, if there was a live one."""

    schedule: Schedule
    previous: str | None


class ReplacesOccurrences(Protocol):
    """The use case Occurrences."""

    def replace(self, old: Schedule, row: LedgerRow | None, transaction: ScheduleTransaction) -> bool | SeriesRefuses:
        """As there."""
        ...


Answer = SeriesRefuses | Replaced | TooLate | MayBeRunning | Expired | NotFound | OnItsWay | Masked | Answered
NamedAnswer = Replaced | TooLate | MayBeRunning | NameTaken | Answered


@frozen(kw_only=True)
class Replace:
    """One call of the API."""

    clock: Clock
    ledger: Ledger
    records: Records
    registry: Registry
    optional_journal: Journal | None  # None: it is switched off
    ids: Ids
    quota: Quota
    actions: Actions
    naming: Naming
    once: Once
    observer: Observer
    occurrences: ReplacesOccurrences | None = None  # None: for calls by name, which no occurrence has

    def by_name(
        self,
        request: ScheduleRequest,
        owner: str,
        name: str,
        *,
        only_new: bool = False,
        by: str = "",
        known: KnownKey = NO_KEY,
    ) -> NamedAnswer:
        """Creates the schedule of that name, or replaces it unless `only_new`. `by` is the caller, if not the owner.

        `known` is what was known of its idempotency key. Who knows an answer of it does not come here.
        Raises Invalid for a connection that cannot be named, NotAllowed, OverQuota, Unavailable if AWS failed.
        """
        return self.once.settled(known, lambda: self._by_name(request, owner, name, known, only_new, by), Replaced)

    def _by_name(
        self, request: ScheduleRequest, owner: str, name: str, known: KnownKey, only_new: bool, by: str
    ) -> NamedAnswer:
        self.quota.permit(owner, request.definition, request.point_in_time)
        connection = self.naming(owner, request.definition)
        self.quota.spend(owner)
        for again in range(ROUNDS):
            if again and (known := self.once.look(known.call)).answer:
                return known.answer
            holder = self.registry.named(owner, name)
            plain = ScheduleTransaction(put=self.ids.issue(request, owner), connection=connection)
            transaction = self._under_the_name(plain, name, holder, only_new, by or owner)
            if not isinstance(transaction, ScheduleTransaction):
                return transaction
            if transaction.end is None or (transaction.end.over and transaction.end.over.ended):
                self.quota.make_room(owner)  # what has failed, or is a dead letter, has given up its place
            transaction = self._with_key(transaction, known)
            if self.registry.replace(transaction):
                return self._replaced(transaction)
        raise Unavailable("others change the schedule of this name all the time; try again")

    def _under_the_name(
        self, plain: ScheduleTransaction, name: str, holder: NameRow | None, only_new: bool, by: str
    ) -> ScheduleTransaction | TooLate | MayBeRunning | NameTaken:
        """In the place of the holder of the name, if that is live."""
        transaction = with_name(plain, name, holder, self.clock.now())
        if holder is None:
            return transaction
        new, old = plain.put, holder.schedule_id
        current = self.ledger.read(old)
        verdict = decide_replace(old, new.owner, current, new.id, self.clock.now())
        if only_new and not is_over(old, current, self.clock.now()):
            return NameTaken(old)
        if isinstance(verdict, MayBeRunning) or (isinstance(verdict, TooLate) and is_live(verdict.row)):
            return verdict
        return in_place_of(transaction, signed(verdict, by)) if isinstance(verdict, LedgerChange) else transaction

    def _with_key(self, transaction: ScheduleTransaction, known: KnownKey) -> ScheduleTransaction:
        """The answer of the call is written with it."""
        new, end = transaction.put, transaction.end
        previous = end.row.schedule_id if end else ""
        row = self.once.row(known, schedule_id=new.id, point_in_time=new.point_in_time, replaces=previous)
        return evolve(transaction, put_request=row, over_request=known.over)

    def by_id(
        self,
        schedule_id: str,
        owner: str,
        *,
        point_in_time: Millis | None,
        payload: str | None,
        by: str = "",
        known: KnownKey = NO_KEY,
    ) -> Answer:
        """Another point in time, another payload, or both; what is None stays. `by` is the caller, if not the owner.

        `known` as for `by_name`. Raises Invalid for a payload that its action does not take, or a connection that is
        gone; NotAllowed, OverQuota; Unavailable if AWS failed.
        """
        if not self.ids.is_genuine(schedule_id, owner):
            return NotFound()

        def do() -> Answer:
            self.quota.spend(owner)
            answer = self._change(schedule_id, owner, point_in_time, payload, by, known)
            if isinstance(answer, TooLate) and answer.row.decided_as:  # accepted without a time, and has one now
                return self._change(answer.row.decided_as, owner, point_in_time, payload, by, known)
            return answer

        return self.once.settled(known, do, Replaced)

    def _change(
        self, schedule_id: str, owner: str, point_in_time: Millis | None, payload: str | None, by: str, known: KnownKey
    ) -> Answer:
        for again in range(ROUNDS):
            if again and (known := self.once.look(known.call)).answer:
                return known.answer
            current = self.ledger.read(schedule_id)
            if is_foreign(current, owner):
                return NotFound()
            old, soon = self._base(schedule_id, owner, current, payload)
            if isinstance(old, Masked):
                return old
            if old is None:
                return self._without_record(schedule_id, owner, current, soon)
            asked = self._changed(old, current, point_in_time, payload)
            self.quota.permit(owner, asked.definition, point_in_time or 0)
            new = self.ids.issue(asked, owner, old.traits)
            verdict = decide_replace(schedule_id, owner, current, new.id, self.clock.now())
            if not isinstance(verdict, LedgerChange):
                return verdict
            transaction = self._taking_the_place_of(current, schedule_id, new, signed(verdict, by or owner))
            transaction = self._with_key(transaction, known)
            if answer := self._written(transaction, old, current):
                return answer
        raise Unavailable("others change this schedule all the time; try again")

    def _written(self, transaction: ScheduleTransaction, old: Schedule, row: LedgerRow | None) -> Answer | None:
        """None: others were faster. The transaction of an occurrence changes the cursor of its series, too."""
        if self.occurrences and transaction.end and is_occurrence(old.id):
            done = self.occurrences.replace(old, row, transaction)
        else:
            done = self.registry.replace(transaction)
        if isinstance(done, SeriesRefuses):
            return done
        return self._replaced(transaction) if done else None

    def _changed(
        self, old: Schedule, row: LedgerRow | None, point_in_time: Millis | None, payload: str | None
    ) -> ScheduleRequest:
        """Makes the changed request. An action that its target would never take is refused, as at creation."""
        defined, kind = old.definition, kind_of(old.id)
        if point_in_time is None and (waits_after_a_redrive(row) or (row and row.ended)):
            defined = asked_for_again(defined, old.point_in_time, self.clock.now())
        if point_in_time is not None:
            defined = reopened(evolve(defined, when=""))
            kind = IdKind.PLAIN if kind is IdKind.UNDECIDED else kind
        if payload is not None and (action := self.actions.get(defined.action_type)):
            check_payload(action, payload)
        return ScheduleRequest(
            point_in_time=old.point_in_time if point_in_time is None else point_in_time,
            definition=defined if payload is None else evolve(defined, payload=payload),
            kind=kind,
        )

    def _taking_the_place_of(
        self, current: LedgerRow | None, schedule_id: str, new: Schedule, end: LedgerChange
    ) -> ScheduleTransaction:
        if current and current.ended:
            self.quota.make_room(new.owner)  # it had given up its place
        connection = "" if is_occurrence(new.id) else self.naming(new.owner, new.definition)
        plain = ScheduleTransaction(put=new, connection=connection)
        return in_place_of(self._with_its_name(plain, schedule_id, current), end)

    def _base(
        self, schedule_id: str, owner: str, current: LedgerRow | None, payload: str | None
    ) -> tuple[Schedule | Masked | None, bool]:
        """Finds the schedule that is to be changed, in its record or in the journal; and says whether more may be known
        in a second.
        """
        record = self.records.read(key_of(schedule_id))
        if record or is_undecided(schedule_id):
            return record, False  # what waits for its time has a record, or is over
        return self._remembered(schedule_id, owner, current, payload)

    def _remembered(
        self, schedule_id: str, owner: str, current: LedgerRow | None, payload: str | None
    ) -> tuple[Schedule | Masked | None, bool]:
        """Finds in the journal a schedule that is on its way; and says whether the journal may know more in a second.

        A definition never changes: an old view of it is right. One without its payload is enough if there is a new one;
        one with masks never is, because a mask must not reach a target (ADR 0067).
        """
        if self.optional_journal is None or (current and current.state not in REPLACEABLE):
            return None, False
        try:
            history = self.optional_journal.history(schedule_id, owner)
        except Unavailable:
            return None, True
        original = original_in(history)
        if original and (original.is_complete or payload is not None):
            return Masked() if original.is_masked else original.schedule, False
        return None, not history

    def _without_record(
        self, schedule_id: str, owner: str, current: LedgerRow | None, soon: bool
    ) -> TooLate | Expired | OnItsWay | NotFound:
        """Answers for a schedule that has left the table: the ledger says what became of it."""
        if is_undecided(schedule_id):
            current = self.ledger.read(schedule_id)  # again, as the decision may have come before the record was read
            return TooLate(current) if current and current.ended else Expired()
        verdict = decide_replace(schedule_id, owner, current, schedule_id, self.clock.now())
        if isinstance(verdict, TooLate | Expired | NotFound):
            return verdict
        return TooLate(current) if current and current.ended else OnItsWay(soon)

    def _with_its_name(
        self, transaction: ScheduleTransaction, schedule_id: str, current: LedgerRow | None
    ) -> ScheduleTransaction:
        """If the old one has a name, the new one gets it."""
        if current is None or not current.name:
            return transaction
        holder = NameRow(owner=transaction.put.owner, name=current.name, schedule_id=schedule_id)
        return with_name(transaction, current.name, holder, self.clock.now())

    def _replaced(self, transaction: ScheduleTransaction) -> Replaced:
        new, end = transaction.put, transaction.end
        previous = end.row.schedule_id if end else None
        self.observer.count("Accepted")
        self.observer.note("accepted", new.id, pointInTime=new.point_in_time, replaces=previous)
        if end:
            self.observer.note("replaced", end.row.schedule_id, replacedBy=new.id, by=end.row.by)
        return Replaced(schedule=new, previous=previous)


def in_place_of(transaction: ScheduleTransaction, end: LedgerChange) -> ScheduleTransaction:
    """With the end of the old schedule."""
    return evolve(transaction, delete=key_of(end.row.schedule_id), end=end)
