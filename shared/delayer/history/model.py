"""Lifecycle events: what the changes of records and of the ledger mean, and the state that they add up to (ADR 0052).

Events come late, twice and in any order. Which state they lead to does not depend on that: an event of the ledger has
the revision of its row; the two events of the table have none, and count only until the first event of the ledger.

Events say of which series a schedule is an occurrence, so what an occurrence is stands here, before them (ADR 0094).
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Annotated, Final

import msgspec
from attrs import evolve, frozen
from msgspec import Raw

from delayer.ledger.model import ENDS, EventType, LedgerRow, State
from delayer.masking.mask import masked
from delayer.schedule.instants import MINUTE, ROW_LIFETIME, SECOND, Malformed, Millis, format_instant, parse_instant
from delayer.schedule.json_text import write
from delayer.schedule.schedule import Definition, Schedule
from delayer.schedule.schedule_id import address_of, is_undecided
from delayer.schedule.table_change import ChangeKind, left_at

TIME: Final = "<delayer.occurrence.time>"  # placeholders in the payload and in the headers of the action; what takes
NUMBER: Final = "<delayer.occurrence.number>"  # their place is shorter, so that no schedule grows over its limit
_MEMBERS: Final = msgspec.json.Decoder(dict[str, Raw])
FROM_THE_TABLE: Final = 0  # in place of a revision
ASKED_FOR: Final = frozenset(  # by a caller of the API or an operator, who is named (ADR 0068)
    {EventType.CANCELLED, EventType.REPLACED, EventType.STOP_REQUESTED, EventType.REDRIVEN, EventType.DROPPED}
)
CLOCK_SKEW: Final[Millis] = MINUTE  # far more than the clocks of two functions differ


@frozen(kw_only=True)
class Occurrence:
    """Which one it is. `time` is what the rule says, wherever its owner has moved the schedule."""

    series: str
    number: int  # 0: of a run-now or a backfill, which have no number in the rule
    time: Millis


class _Stored(msgspec.Struct, rename={"series": "seriesId"}):
    series: Annotated[str, msgspec.Meta(min_length=1)]
    number: Annotated[int, msgspec.Meta(ge=0)]
    time: str


_STORED: Final = msgspec.json.Decoder(_Stored)


@frozen
class SeriesRefuses:
    """It is an occurrence, and its series takes no such change now. `reason` is for the client."""

    reason: str


@frozen
class NotCurrent:
    """No series has this schedule as its current occurrence: the ledger row alone decides."""


def occurrence_of(definition: Definition) -> Occurrence | None:
    """Which occurrence of which series a schedule is; None if it is of no series. Raises Malformed."""
    return occurrence_in(definition.series)


def occurrence_in(text: str) -> Occurrence | None:
    """The same, of the field of a definition alone."""
    if not text:
        return None
    try:
        stored = _STORED.decode(text)
        return Occurrence(series=stored.series, number=stored.number, time=parse_instant(stored.time))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Malformed(f"not an occurrence: {error}") from error


def definition_for(definition: Definition, occurrence: Occurrence) -> Definition:
    """The definition that an occurrence is put with: that of the series, with its placeholders replaced. It is in no
    group.
    """
    time, number = format_instant(occurrence.time), str(occurrence.number)
    stored = _Stored(series=occurrence.series, number=occurrence.number, time=time)
    return evolve(
        definition,
        action=_in_headers(definition.action, time, number),
        payload=_filled(definition.payload, time, number),
        group="",
        series=msgspec.json.encode(stored).decode(),
    )


def _filled(text: str, time: str, number: str) -> str:
    """Neither needs an escape within a string of JSON."""
    return text.replace(TIME, time).replace(NUMBER, number)


def _in_headers(action: str, time: str, number: str) -> str:
    """Only the values of headers are read: nothing else of the action can change."""
    if TIME not in action and NUMBER not in action:  # nearly always: then it stays byte for byte
        return action
    try:
        document = _MEMBERS.decode(action)
        headers = _MEMBERS.decode(document["headers"])
    except (msgspec.MsgspecError, UnicodeError, RecursionError, KeyError):
        return action
    filled = {name: _filled(bytes(value).decode(), time, number) for name, value in headers.items() if _is_text(value)}
    return write({**document, "headers": {**headers, **{name: Raw(text.encode()) for name, text in filled.items()}}})


def _is_text(value: Raw) -> bool:
    return bytes(value).startswith(b'"')


@frozen(kw_only=True, slots=False)
class Original:
    """A schedule as its client created it."""

    schedule: Schedule
    is_complete: bool = True  # else its payload was too large for an event, and is empty here
    is_masked: bool = False  # its secrets are masked: it may be shown, but nothing can be scheduled from it (ADR 0067)

    def without_payload(self) -> "Original":
        """The part of it that a list shows."""
        definition = evolve(self.schedule.definition, payload="")
        return evolve(self, schedule=evolve(self.schedule, definition=definition), is_complete=False)

    def shown(self) -> "Original":
        """As it may be shown."""
        return self._shown

    @cached_property
    def _shown(self) -> "Original":
        """A list asks for it twice, and to go through all of an action takes long."""
        definition = masked(self.schedule.definition, self.schedule.traits.secrets)
        if definition is self.schedule.definition:
            return self
        return evolve(self, schedule=evolve(self.schedule, definition=definition), is_masked=True)


@frozen(kw_only=True)
class LifecycleEvent:
    """One transition of one schedule."""

    id: str  # of the change behind it: the same if the event is delivered again
    type: EventType
    schedule_id: str
    owner: str
    at: Millis  # of the transition; of a removal from the table, to the second
    state: State  # afterwards
    revision: int = FROM_THE_TABLE  # of the ledger row
    attempt: int = 0  # the attempt that it is about; 0 if there was none
    is_probe: bool = False  # with `attempt-failed`: it has only shown that its target does not answer yet
    lateness: Millis | None = None  # of the first attempt, once that was made
    attempt_lateness: Millis | None = None  # of the attempt that it is about; None if no attempt led to it
    next_attempt_at: Millis = 0  # with `attempt-failed`
    detail: str = ""  # the target's answer, or the reason
    answer: str = ""  # what is kept of the answer to the attempt, as JSON, its secrets masked; empty if nobody asked
    name: str = ""
    replaced_by: str = ""
    decided_as: str = ""  # the schedule that has its time, with `decided`
    by: str = ""  # who asked for it: a caller of the API, or an operator
    enqueued_at: Millis = 0  # of the ledger: when its record had left the table, if that is known
    claimed_at: Millis = 0  # of the ledger, after a claim: when that was made
    retold: bool = False  # a later event of the ledger repeats all that it tells: a reader of those needs no copy
    is_estimate: bool = False  # of a time that nothing tells: it is shown, and never published
    original: Original | None = None  # with `scheduled`, unless it was too large
    source: str = ""  # names the stack, once it is published

    @property
    def order(self) -> tuple[Millis, int, str]:
        """By this a history is sorted. Times alone are not enough: several transitions can share a millisecond."""
        at_once = -1 if self.type is EventType.SCHEDULED else self.revision
        return self.at, at_once, self.id


@frozen(kw_only=True)
class LifecycleRecord:
    """A record of a stream, by its sequence number there."""

    sequence: str
    event: LifecycleEvent | None = None  # None: there is nothing to publish
    problem: str = ""  # why it cannot be read


def expiry_of(event: LifecycleEvent, keep_for: Millis) -> Millis:
    """When it may be forgotten: an end `keep_for` after it, or after the schedule was due, whichever is later.

    What is not the end may be followed by one, as long as the ledger has the row. The list, the history and PATCH need
    it until then, and for `keep_for` afterwards.
    """
    over = max(address_of(event.schedule_id).due, event.at) + keep_for
    return over if event.state in ENDS else over + ROW_LIFETIME


def of_record(
    kind: ChangeKind, schedule: Schedule, change: str, at: Millis, *, expired: bool = False
) -> LifecycleEvent | None:
    """The event of a change of the schedules table or of the relaxed table; None if there is nothing to publish.

    `at` and `expired` as in `left_at`.
    """
    beginning = LifecycleEvent(
        id=change,
        type=EventType.SCHEDULED,
        schedule_id=schedule.id,
        owner=schedule.owner,
        at=schedule.created_at,
        state=State.UNDECIDED if is_undecided(schedule.id) else State.SCHEDULED,
        original=Original(schedule=schedule),
    )
    if kind is ChangeKind.INSERT:
        return beginning
    if beginning.state is State.UNDECIDED:
        return None  # the ledger says what became of it
    left = left_at(kind, schedule, at, expired=expired)
    return enqueued(schedule.id, schedule.owner, left) if left else None


def enqueued(schedule_id: str, owner: str, at: Millis) -> LifecycleEvent:
    """That a record has left its table. Its id is made from what it says: whoever tells it again tells the same."""
    return LifecycleEvent(
        id=f"enqueued-{schedule_id}-{at}",
        type=EventType.ENQUEUED,
        schedule_id=schedule_id,
        owner=owner,
        at=at,
        state=State.ENQUEUED,
        retold=True,
    )


def of_row(old: LedgerRow | None, new: LedgerRow, change: str) -> LifecycleEvent | None:
    """The event of a change of the ledger; None if only a note in the row has changed.

    A named schedule begins with a row, but the event of its beginning comes from its record.
    """
    if old and new.ended and new.state is old.state and new.enqueued_at not in (0, old.enqueued_at):
        return evolve(enqueued(new.schedule_id, new.owner, new.enqueued_at), retold=False)  # no later row will tell it
    kind = _type_of(old, new)
    if kind is None:
        return None
    state = State.ENQUEUED if kind is EventType.REDRIVEN and new.nonce else new.state
    return LifecycleEvent(
        id=change,
        type=kind,
        schedule_id=new.schedule_id,
        owner=new.owner,
        at=new.stopped_at if kind is EventType.STOP_REQUESTED else new.at,
        state=state,
        revision=new.revision,
        attempt=_attempt_of(kind, new),
        is_probe=kind is EventType.ATTEMPT_FAILED and old is not None and new.probes > old.probes,
        lateness=new.lateness if new.was_attempted else None,
        attempt_lateness=_own_lateness(old, new),
        next_attempt_at=new.retry_at if kind is EventType.ATTEMPT_FAILED else 0,
        detail="" if kind is EventType.STOP_REQUESTED else new.detail,
        answer=new.answer,
        name=new.name,
        replaced_by=new.replaced_by,
        decided_as=new.decided_as,
        by=new.by if kind in ASKED_FOR else "",
        enqueued_at=_enqueued_at(old, new),
        claimed_at=0 if kind is EventType.CLAIMED else new.claimed_at,
        retold=kind is EventType.CLAIMED and _is_first(old),
    )


def _own_lateness(old: LedgerRow | None, new: LedgerRow) -> Millis | None:
    """Of the attempt that led to `new`: from the time for which it was planned until it was made."""
    if not new.attempted_at:
        return None
    planned = old.retry_at if old and old.attempt > 1 else 0
    return new.attempted_at - (planned or address_of(new.schedule_id).due)


def _is_first(old: LedgerRow | None) -> bool:
    """Whether nothing has happened to it before this claim; at most it has a name."""
    return old is None or (old.revision == 1 and bool(old.name) and not old.detail)


def _enqueued_at(old: LedgerRow | None, new: LedgerRow) -> Millis:
    """Code that does not know it yet writes the row without it: then it is in the row before, of the same claim."""
    return new.enqueued_at or (old.enqueued_at if old and old.nonce == new.nonce else 0)


def _attempt_of(kind: EventType, row: LedgerRow) -> int:
    match kind:
        case EventType.ATTEMPT_FAILED:
            return row.attempt - 1
        case EventType.STOP_REQUESTED:
            return 0
    return row.attempt


def _type_of(old: LedgerRow | None, new: LedgerRow) -> EventType | None:
    if new.state is State.UNDECIDED:
        return None
    if new.state is State.SCHEDULED:
        return EventType.REDRIVEN if new.detail and not _is_same_redrive(old, new) else None
    if new.state is not State.CLAIMED or old is None or old.state is not State.CLAIMED:
        return EventType(new.state)
    if new.attempt > old.attempt:
        return EventType.ATTEMPT_FAILED
    if new.stopped_at > old.stopped_at:
        return EventType.STOP_REQUESTED
    return EventType.CLAIMED_AGAIN if new.lease_until > old.lease_until else None  # else a note about its messages


def _is_same_redrive(old: LedgerRow | None, new: LedgerRow) -> bool:
    return bool(old and old.state is State.SCHEDULED and old.detail and old.nonce == new.nonce)


def fold(events: Iterable[LifecycleEvent]) -> State | None:
    """The state that these events lead to, in whatever order and however often they came; None for no event."""
    known = list(events)
    if not known:
        return None
    last = of_last_row([event for event in known if event.revision])
    if last and not (last.type is EventType.REDRIVEN and last.state is State.SCHEDULED):
        return last.state
    if any(event.state is State.UNDECIDED for event in known):
        return State.UNDECIDED
    since = last.at // SECOND * SECOND if last else 0  # what left the table earlier did so before the redrive
    left = any(event.type is EventType.ENQUEUED and event.at >= since for event in known)
    return State.ENQUEUED if left else State.SCHEDULED


def original_in(events: Iterable[LifecycleEvent]) -> Original | None:
    """The schedule as its client created it, if one of these events has it."""
    return next((event.original for event in events if event.original), None)


def of_last_row(events: Sequence[LifecycleEvent]) -> LifecycleEvent | None:
    """The highest revision. A row that had expired and was written again, by a late redrive, begins with 1 again."""
    begun = max((event.at for event in events if event.revision == 1), default=0) - CLOCK_SKEW
    return max((event for event in events if event.at >= begun), key=lambda event: event.revision, default=None)
