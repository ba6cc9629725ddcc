"""Lifecycle events: what the changes of the two tables tell, and the state that they add up to (ADR 0052).

Events come late, twice and in any order. Which state they lead to does not depend on that: the ledger's have the
revision of their row, and the table's two, which have none, count only until the ledger speaks.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from attrs import frozen

from delayer.core.enqueueing import NEARLY_DUE, Kind
from delayer.core.instants import MINUTE, SECOND, Millis
from delayer.core.ledger import STALE_AFTER, LedgerRow
from delayer.core.lifecycle import EventType, State
from delayer.core.schedule import Schedule
from delayer.core.schedule_id import address_of

TYPES: Final = {state: EventType(state) for state in State}  # of a row that entered the state
FROM_THE_TABLE: Final = 0  # in place of a revision
CLOCK_SKEW: Final[Millis] = MINUTE  # by which the times of two functions may differ, and far more than they do


@frozen
class Definition:
    """What its client sent."""

    schedule: Schedule
    is_whole: bool = True  # else its payload was too large to be told, and is empty here


@frozen(kw_only=True)
class Event:
    """One transition of one schedule."""

    id: str  # of the change that it tells of: whoever gets it twice knows it by this
    type: EventType
    schedule_id: str
    owner: str
    at: Millis  # of the transition; of a removal from the table, to the second
    state: State  # afterwards
    revision: int = FROM_THE_TABLE  # of the ledger row
    attempt: int = 0  # the one that it is about; 0 if there was none
    lateness: Millis | None = None  # of the first attempt, once that was made
    detail: str = ""  # the target's answer, or the reason
    name: str = ""
    replaced_by: str = ""
    definition: Definition | None = None  # with `scheduled`, unless it was too large
    source: str = ""  # names the stack, once it is told

    @property
    def order(self) -> tuple[Millis, int, str]:
        """By this a history is sorted. Times alone do not do: several transitions can share a millisecond."""
        at_once = -1 if self.type is EventType.SCHEDULED else self.revision
        return self.at, at_once, self.id


@frozen
class Happening:
    """A change of one of the two tables, by its sequence number in the stream."""

    sequence: str
    event: Event | None  # None: nothing to tell
    problem: str = ""  # why it cannot be read


def expiry_of(event: Event, keep_for: Millis) -> Millis:
    """When it may be forgotten: so long after its schedule was due, or it happened, whichever is later."""
    return max(address_of(event.schedule_id).due, event.at) + keep_for


def of_record(kind: Kind, schedule: Schedule, change: str, at: Millis) -> Event | None:
    """What a change of the schedules table tells; None for nothing.

    A removal long before the point in time moves nothing into the delayer queue (ADR 0022). `at` may be rounded down
    to the second, and is then before the record was there.
    """
    beginning = Event(
        id=change,
        type=EventType.SCHEDULED,
        schedule_id=schedule.id,
        owner=schedule.owner,
        at=schedule.created_at,
        state=State.SCHEDULED,
        definition=Definition(schedule),
    )
    if kind is Kind.INSERT:
        return beginning
    if kind is not Kind.REMOVE or not -NEARLY_DUE <= at - schedule.address.due <= STALE_AFTER:
        return None
    return Event(
        id=change,
        type=EventType.ENQUEUED,
        schedule_id=schedule.id,
        owner=schedule.owner,
        at=max(at, schedule.created_at),
        state=State.ENQUEUED,
    )


def of_row(old: LedgerRow | None, new: LedgerRow, change: str) -> Event | None:
    """What a change of the ledger tells; None for bookkeeping.

    A named schedule begins with a row, but its record tells of that.
    """
    kind = _type_of(old, new)
    if kind is None:
        return None
    state = State.ENQUEUED if kind is EventType.PUT_BACK and new.nonce else new.state
    return Event(
        id=change,
        type=kind,
        schedule_id=new.schedule_id,
        owner=new.owner,
        at=new.stopped_at if kind is EventType.STOP_REQUESTED else new.at,
        state=state,
        revision=new.revision,
        attempt=_attempt_of(kind, new),
        lateness=new.lateness if new.was_attempted else None,
        detail="" if kind is EventType.STOP_REQUESTED else new.detail,
        name=new.name,
        replaced_by=new.replaced_by,
    )


def _attempt_of(kind: EventType, row: LedgerRow) -> int:
    match kind:
        case EventType.ATTEMPT_FAILED:
            return row.attempt - 1
        case EventType.STOP_REQUESTED:
            return 0
    return row.attempt


def _type_of(old: LedgerRow | None, new: LedgerRow) -> EventType | None:
    if new.state is State.SCHEDULED:
        return EventType.PUT_BACK if new.detail and not _is_put_back_alike(old, new) else None
    if new.state is not State.CLAIMED or old is None or old.state is not State.CLAIMED:
        return TYPES[new.state]
    if new.attempt > old.attempt:
        return EventType.ATTEMPT_FAILED
    return EventType.STOP_REQUESTED if new.stopped_at > old.stopped_at else EventType.CLAIMED_AGAIN


def _is_put_back_alike(old: LedgerRow | None, new: LedgerRow) -> bool:
    return bool(old and old.state is State.SCHEDULED and old.detail and old.nonce == new.nonce)


def fold(events: Iterable[Event]) -> State | None:
    """The state that these events lead to, in whatever order and however often they came; None for no event."""
    known = list(events)
    if not known:
        return None
    told = _of_last_row([event for event in known if event.revision])
    if told and not (told.type is EventType.PUT_BACK and told.state is State.SCHEDULED):
        return told.state
    since = told.at // SECOND * SECOND if told else 0  # before that, it left the table in an earlier life
    left = any(event.type is EventType.ENQUEUED and event.at >= since for event in known)
    return State.ENQUEUED if left else State.SCHEDULED


def definition_in(events: Iterable[Event]) -> Definition | None:
    """What its client sent, if these events tell."""
    return next((event.definition for event in events if event.definition), None)


def _of_last_row(events: Sequence[Event]) -> Event | None:
    """The highest revision. A row that expired and was written anew, by a late put-back, begins again with 1."""
    begun = max((event.at for event in events if event.revision == 1), default=0) - CLOCK_SKEW
    return max((event for event in events if event.at >= begun), key=lambda event: event.revision, default=None)
