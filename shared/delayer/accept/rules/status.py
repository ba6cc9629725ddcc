"""Where a schedule is, and what a client can still change: ledger and table say it together (ADR 0040)."""

from collections.abc import Mapping
from typing import Final

from attrs import evolve, frozen

from delayer.actions.rules.model import ActionType
from delayer.flow.rules.block import Waiting, target_in
from delayer.history.model import LifecycleEvent, Original, fold, original_in
from delayer.ledger.model import ENDS, Already, EventType, LedgerChange, LedgerRow, State, following, new_row
from delayer.ledger.rules import at_rest_from, ended, ended_unclaimed, stopped, stopped_for_good
from delayer.masking.mask import MASK
from delayer.schedule.instants import ROW_LIFETIME, STALE_AFTER, Millis
from delayer.schedule.schedule import Schedule
from delayer.schedule.schedule_id import address_of, is_undecided, point_in_time_of

CANCELLED: Final = "cancelled by its owner"


@frozen
class TooEarly:
    """The schedule is not claimed yet: there is nothing to stop, but it can be cancelled."""


@frozen
class TooLate:
    """The schedule is claimed, or it has another end, as `row` shows. Nothing was changed."""

    row: LedgerRow


@frozen(kw_only=True)
class MayBeRunning:
    """It waits for an operator, or was redriven; an attempt from before that may still succeed. Nothing was changed."""

    row: LedgerRow
    wait: Millis  # from now on; then no such attempt is under way, and the call may be repeated


@frozen
class Expired:
    """So old that its row may have expired: nothing is written, and nothing is known about it (ADR 0023)."""


@frozen
class NotFound:
    """This stack never issued the id to this owner, or its row has another owner: then somebody has forged the id."""


@frozen
class NameTaken:
    """A live schedule has the name."""

    schedule_id: str


@frozen
class OnItsWay:
    """Its record has left the table, and its definition cannot be read: cancel it, and POST it again.

    `soon`: the journal may know it in a second.
    """

    soon: bool


@frozen
class Masked:
    """As OnItsWay, but the journal knows it: with its secrets masked, so that nothing can be scheduled from it."""


def decide_cancel(
    schedule_id: str, owner: str, current: LedgerRow | None, now: Millis, detail: str = CANCELLED
) -> LedgerChange | Already | TooLate | MayBeRunning | Expired | NotFound:
    """Whether it will never reach an executor; `detail` says who asked. Raises ValueError if it is not an id."""
    if is_foreign(current, owner):
        return NotFound()
    if _is_too_old(schedule_id, now):
        return Expired()
    if current is None:
        return LedgerChange(row=ended_unclaimed(schedule_id, owner, State.CANCELLED, now, detail))
    if current.state is State.CANCELLED:
        return Already(current)
    if _is_untouched(current):
        if (running := _running(current, now)) is not None:
            return running
        return LedgerChange(row=ended(current, State.CANCELLED, now, detail), over=current)
    return TooLate(current)


def decide_replace(
    schedule_id: str, owner: str, current: LedgerRow | None, by: str, now: Millis
) -> LedgerChange | TooLate | MayBeRunning | Expired | NotFound:
    """Whether the schedule `by` may take its place. Raises ValueError if one of them is not an id.

    What failed or is a dead letter is replaced, too: its body could be redriven, and there would be two. But not while
    an attempt of it may be under way: if that one succeeds, both would fire.
    """
    if _is_too_old(schedule_id, now):
        return Expired()
    later = max(address_of(by).due, now) + ROW_LIFETIME  # a lookup of the old one shows the id of the new one
    if current is None:
        first = new_row(EventType.REPLACED, schedule_id, owner, now, replaced_by=by)
        return LedgerChange(row=_kept_until(later, first))
    if is_foreign(current, owner):
        return NotFound()
    if _is_untouched(current) or (current.ended and is_live(current)):
        if (running := _running(current, now)) is not None:
            return running
        row = following(current, EventType.REPLACED, now, detail="", replaced_by=by)
        return LedgerChange(row=_kept_until(later, row), over=current)
    return TooLate(current)


def decide_stop(
    schedule_id: str, owner: str, current: LedgerRow | None, now: Millis
) -> LedgerChange | Already | TooEarly | TooLate | Expired | NotFound:
    """Whether no further attempt is to start. Raises ValueError if it is not an id.

    What became a dead letter after its claim ends here: then it is not redriven, and an operator may discard it.
    """
    if current is None:
        return Expired() if _is_too_old(schedule_id, now) else TooEarly()
    if is_foreign(current, owner):
        return NotFound()
    if current.state is State.DEAD_LETTERED and current.claimed_at and not current.stopped_at:
        return LedgerChange(row=stopped_for_good(current, now), over=current)
    if current.ended:
        return Already(current) if current.stopped_at else TooLate(current)
    if current.state in (State.SCHEDULED, State.UNDECIDED):
        return TooEarly()
    return Already(current) if current.stopped_at else LedgerChange(row=stopped(current, now), over=current)


def is_foreign(row: LedgerRow | None, owner: str) -> bool:
    """Whether the row belongs to somebody else. An id says whose it is; this is a second lock, if its key is known."""
    return row is not None and row.owner != owner


def is_over(schedule_id: str, row: LedgerRow | None, now: Millis) -> bool:
    """Whether its name is free. Raises ValueError if it is not an id."""
    if row is None and is_undecided(schedule_id):
        return True  # with a name it has a row from the start, which is kept for as long as that name
    return _is_too_old(schedule_id, now) or not is_live(row)


def is_live(row: LedgerRow | None) -> bool:
    """Whether a schedule may still fire, or be redriven, so that a namesake has to take its place.

    What has failed because its time was refused is not redriven: nothing of it is stored.
    """
    if row is None or not row.ended:
        return True
    return row.state in (State.DEAD_LETTERED, State.FAILED) and not is_undecided(row.schedule_id)


def _is_too_old(schedule_id: str, now: Millis) -> bool:
    """No margin is counted from an id without a time: whether anything is known of it, its record or its row says."""
    return not is_undecided(schedule_id) and is_of_old(schedule_id, now)


def is_of_old(schedule_id: str, now: Millis) -> bool:
    """Whether its address is so far back that a row of it may have expired. Raises ValueError if it is not an id."""
    return now - address_of(schedule_id).due > STALE_AFTER


def _is_untouched(row: LedgerRow) -> bool:
    """No executor has seen it, and none will: it waits, or became a dead letter before its claim."""
    return row.state in (State.SCHEDULED, State.UNDECIDED) or (row.state is State.DEAD_LETTERED and not row.attempt)


def _running(row: LedgerRow, now: Millis) -> MayBeRunning | None:
    wait = at_rest_from(row) - now
    return MayBeRunning(row=row, wait=wait) if wait > 0 else None


def _kept_until(instant: Millis, row: LedgerRow) -> LedgerRow:
    return evolve(row, expires_at=max(row.expires_at, instant))


@frozen(kw_only=True)
class Outline:
    """A list shows this of a schedule, whether it is still in the table or not."""

    action_type: str
    target: str  # what names the target of its action: a host, a queue, a function; empty if nothing does
    created_at: Millis
    group: str = ""
    tags: str = ""  # JSON
    series: str = ""  # of which series it is an occurrence, as JSON


def outline_of(original: Original, actions: Mapping[str, ActionType]) -> Outline:
    """Of a definition whose secrets are masked: the target is named by what may be shown."""
    schedule = original.shown().schedule
    defined, kind = schedule.definition, schedule.definition.action_type
    action = actions.get(kind)
    target = target_in(defined.action, action.fair_by) if action else ""
    return Outline(
        action_type=kind,
        target="" if target == MASK else target,
        created_at=schedule.created_at,
        group=defined.group,
        tags=defined.tags,
        series=defined.series,
    )


@frozen(kw_only=True)
class Status:
    """Where it is, and what is known of it there."""

    schedule_id: str
    state: State
    original: Original | None = None  # while it is in the table; afterwards, if the journal has it
    row: LedgerRow | None = None  # if there is one
    overdue: bool = False  # it waits, and its point in time has passed
    next_attempt_at: Millis = 0  # while it waits for an attempt after one that failed
    waiting: Waiting | None = None  # why it waits although it is due
    history: tuple[LifecycleEvent, ...] = ()  # as far as the journal has come
    outline: Outline | None = None  # in a list
    decided_as: str = ""  # the schedule with its time, of which all else is said: it was accepted without one


def status_of(
    schedule_id: str,
    row: LedgerRow | None,
    record: Schedule | None,
    now: Millis,
    history: tuple[LifecycleEvent, ...] = (),
) -> Status | Expired:
    """The ledger counts more than the table. If neither knows it, it is in the stream or the delayer queue.

    The journal is a view. It is asked only about a schedule so old that its ledger row may have expired.
    """
    original = Original(schedule=record) if record else original_in(history)
    if is_undecided(schedule_id) and (row is None or row.state is State.UNDECIDED):
        return _waiting_for_its_time(schedule_id, row, record, history)
    if row and row.state is not State.SCHEDULED:
        return Status(
            schedule_id=schedule_id,
            state=row.state,
            row=row,
            original=original,
            next_attempt_at=next_attempt_at(row, now),
            history=history,
        )
    is_old = row is None and record is None and now - address_of(schedule_id).due > STALE_AFTER
    remembered = fold(history) if is_old else None
    if is_old and remembered not in ENDS:
        return Expired()
    return Status(
        schedule_id=schedule_id,
        state=remembered or (State.SCHEDULED if record else State.ENQUEUED),
        row=row,
        original=original,
        overdue=now > point_in_time_of(schedule_id) and not is_old,
        history=history,
    )


def _waiting_for_its_time(
    schedule_id: str, row: LedgerRow | None, record: Schedule | None, history: tuple[LifecycleEvent, ...]
) -> Status | Expired:
    """Its record is there, however long ago it was accepted; without it, it has ended long ago, or never was."""
    if record is None:
        return Expired()
    original = Original(schedule=record)
    return Status(schedule_id=schedule_id, state=State.UNDECIDED, row=row, original=original, history=history)


def next_attempt_at(row: LedgerRow, now: Millis) -> Millis:
    """When the attempt may be made for which it waits; 0 if it waits for none: it is time, or it was stopped."""
    waits = row.state is State.CLAIMED and not row.stopped_at and row.retry_at > now
    return row.retry_at if waits else 0
