"""Gives a series another definition: the answer says at which occurrence it takes effect (ADR 0094, 0098)."""

from collections.abc import Callable
from typing import Final

from attrs import asdict, evolve, frozen

from delayer.accept.rules.status import MayBeRunning, decide_cancel, decide_replace
from delayer.accept.use_cases.issue import Ids
from delayer.accept.use_cases.once import NO_KEY, Answered, KnownKey, Once
from delayer.connections.naming import Naming
from delayer.engines.ports import Clock, Observer, Unavailable
from delayer.history.model import SeriesRefuses
from delayer.http.problem import FieldError, Invalid
from delayer.ledger.model import LedgerChange, LedgerRow, signed
from delayer.ledger.ports import Ledger
from delayer.owners.quota import Quota
from delayer.schedule.instants import Millis
from delayer.schedule.schedule import MAX_OWNER, Schedule
from delayer.schedule.schedule_id import key_of
from delayer.series.ports import SeriesTable, SeriesTransaction
from delayer.series.rules.command import ReplaceOccurrence, decide_patch, patched
from delayer.series.rules.rules import new_times
from delayer.series.rules.series import Cursor, MayStillRun, NoSeries, Rule, SeriesDefinition, SeriesState, is_zoned
from delayer.series.rules.stepping import Over, ReadAgain, Step, moved_to, offset_of
from delayer.series.use_cases.halt import ROUNDS
from delayer.series.use_cases.step import occurrence, tell_if_failed
from delayer.series.use_cases.stored import Retention, Stored, read

DETAIL: Final = "its series was changed, and has no further time"
Change = Callable[[SeriesDefinition], SeriesDefinition]  # what a client asks for, of the definition as it stands


@frozen(kw_only=True)
class Effect:
    """At which occurrence a change takes effect: what is answered, and kept with the idempotency key."""

    series: str
    state: str
    number: int
    schedule_id: str  # of that occurrence, if it was put at once
    point_in_time: Millis  # then, its time by the rule
    replaces: str


@frozen(kw_only=True)
class SeriesChanged:
    """It has another definition."""

    cursor: Cursor
    definition: SeriesDefinition
    number: int  # of the first occurrence that goes by it
    put: Schedule | None = None  # that occurrence, if it was put at once
    replaced: str = ""  # the id of the one whose place it took, or that was cancelled as no time is left

    @property
    def effect(self) -> Effect:
        """The answer."""
        return _effect(self.cursor, self.number, self.put, self.replaced)


ChangeAnswer = SeriesChanged | SeriesRefuses | MayStillRun | NoSeries | Answered


@frozen(kw_only=True)
class ChangeSeries:
    """One call of the API."""

    clock: Clock
    series: SeriesTable
    ledger: Ledger
    ids: Ids
    quota: Quota
    naming: Naming
    rule_of: Callable[[SeriesDefinition], Rule]
    retention: Retention
    once: Once
    observer: Observer

    def __call__(self, owner: str, series: str, change: Change, by: str = "", known: KnownKey = NO_KEY) -> ChangeAnswer:
        """`by` is the caller, if not the owner; `known` is what was known of its idempotency key, if no answer.

        Raises what `change` raises, Invalid, NotAllowed, OverQuota, and Unavailable: it may be changed, and the call is
        to be repeated.
        """
        return self.once.settled(known, lambda: self._rounds(owner, series, change, by or owner, known), SeriesChanged)

    def _rounds(self, owner: str, series: str, change: Change, by: str, known: KnownKey) -> ChangeAnswer:
        self.quota.spend(owner)
        for again in range(ROUNDS):
            if again and (known := self.once.look(known.call)).answer:
                return known.answer
            stored = read(self.series, owner, series)
            if isinstance(stored, NoSeries):
                return stored
            if stored.is_torn:
                continue
            answer = self._change(stored, change, by, known)
            if answer:
                return answer
        raise Unavailable("others change the series all the time; try again")

    def _change(
        self, stored: Stored, change: Change, by: str, known: KnownKey
    ) -> SeriesChanged | SeriesRefuses | MayStillRun | None:
        """None: it must be read again."""
        cursor, old, now = stored.cursor, stored.definition, self.clock.now()
        new = self._new(old, change(old))
        _check_owner(cursor, old, new)
        if new.definition.action != old.definition.action:
            self.naming(cursor.owner, new.definition)
        row = self.ledger.read(cursor.current) if cursor.current else None
        differs = new_times(old, new)
        decision = decide_patch(cursor, new, self.rule_of(new), row, now, differs)
        match decision:
            case SeriesRefuses():
                return decision
            case ReadAgain():
                return None
        step = decision.step if isinstance(decision, ReplaceOccurrence) else decision
        self.quota.permit(cursor.owner, new.definition, step.at if isinstance(step, Step) else 0)
        keeps_its_time = isinstance(decision, ReplaceOccurrence) and isinstance(step, Step) and step.at == cursor.at
        moved = moved_to(cursor, old) if keeps_its_time else None
        put = self._put(new, cursor.series, step, moved) if isinstance(step, Step) else None
        cursor_change = patched(cursor, decision, new, now, put.id if put else "", differs)
        transaction = evolve(self.retention.transaction(cursor_change, old, new), put=(put,) if put else ())
        if isinstance(decision, ReplaceOccurrence):
            end = _end(cursor, row, put, now)
            if not isinstance(end, LedgerChange):
                return end
            transaction = evolve(transaction, ends=(signed(end, by),), delete=(key_of(cursor.current),))
        if self._has_lost_its_name(transaction, old):
            return SeriesRefuses("it was over, and another series has its name now")
        number = step.number if not isinstance(step, Over) else cursor.number + 1
        transaction = self._with_key(transaction, number, known)
        return self._changed(transaction, new, number, by) if self.series.write(transaction) else None

    def _with_key(self, transaction: SeriesTransaction, number: int, known: KnownKey) -> SeriesTransaction:
        """The answer of the call is written with it."""
        effect = _effect(transaction.cursor, number, _put_in(transaction), _replaced_in(transaction))
        return evolve(transaction, put_request=self.once.row(known, **asdict(effect)), over_request=known.over)

    def _has_lost_its_name(self, transaction: SeriesTransaction, definition: SeriesDefinition) -> bool:
        """A series that is over has given its name up. Who revives it needs the name, and may take it if it is free."""
        cursor = transaction.cursor
        is_revived = transaction.changes_expiry and not cursor.expires_at
        if not is_revived or not definition.name:
            return False
        return self.series.named(cursor.owner, definition.name) not in {"", cursor.series}

    def _new(self, old: SeriesDefinition, new: SeriesDefinition) -> SeriesDefinition:
        traits = self.ids.traits(new.definition, old.traits)
        return evolve(new, revision=old.revision + 1, traits=traits)

    def _put(self, new: SeriesDefinition, series: str, step: Step, moved: Millis | None) -> Schedule:
        """An occurrence that its owner has moved stays where it is, as long as its time is one of the rule."""
        due = step.at if moved is None else moved - offset_of(new, series)
        return occurrence(self.ids, new, series, step.number, step.at, due)

    def _changed(self, transaction: SeriesTransaction, new: SeriesDefinition, number: int, by: str) -> SeriesChanged:
        cursor = transaction.cursor
        put, replaced = _put_in(transaction), _replaced_in(transaction)
        self.observer.note("series changed", series=cursor.series, revision=new.revision, number=number, by=by)
        tell_if_failed(self.observer, transaction)
        return SeriesChanged(cursor=cursor, definition=new, number=number, put=put, replaced=replaced)


def _effect(cursor: Cursor, number: int, put: Schedule | None, replaced: str) -> Effect:
    return Effect(
        series=cursor.series,
        state=cursor.state,
        number=number,
        schedule_id=put.id if put else "",
        point_in_time=cursor.at if put else 0,
        replaces=replaced,
    )


def _put_in(transaction: SeriesTransaction) -> Schedule | None:
    return transaction.put[0] if transaction.put else None


def _replaced_in(transaction: SeriesTransaction) -> str:
    return transaction.ends[0].row.schedule_id if transaction.ends else ""


def _end(cursor: Cursor, row: LedgerRow | None, put: Schedule | None, now: Millis) -> LedgerChange | MayStillRun | None:
    """Of the current occurrence, which is replaced, or cancelled if no time is left. None: it was claimed meanwhile."""
    current, owner = cursor.current, cursor.owner
    verdict = (
        decide_replace(current, owner, row, put.id, now) if put else decide_cancel(current, owner, row, now, DETAIL)
    )
    if isinstance(verdict, MayBeRunning):
        return MayStillRun(cursor=cursor, schedules=(current,), wait=verdict.wait)
    return verdict if isinstance(verdict, LedgerChange) else None


def _check_owner(cursor: Cursor, old: SeriesDefinition, new: SeriesDefinition) -> None:
    """Raises Invalid for a zone that a series gets anew, if its owner's name is too long for that list (ADR 0147)."""
    alive = evolve(cursor, state=SeriesState.ACTIVE)  # a change may revive it
    is_new = is_zoned(alive, new) and not is_zoned(alive, old)
    if is_new and len(cursor.owner.encode("utf-8", "surrogatepass")) > MAX_OWNER:
        allowed = f"UTC, as the name of its owner has more than {MAX_OWNER} bytes"
        raise Invalid([FieldError(field="repeat.timeZone", problem="not allowed", allowed=allowed)])
