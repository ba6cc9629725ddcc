"""Where a schedule is: what the ledger and the table say together (ADR 0040)."""

from collections.abc import Mapping

from attrs import frozen

from delayer.core.actions.action_type import ActionType
from delayer.core.api.cancellation import Expired
from delayer.core.flow.party import target_in
from delayer.core.flow.waiting import Waiting
from delayer.core.history.events import Event, Original, fold, original_in
from delayer.core.ledger.lifecycle import ENDS, State
from delayer.core.ledger.row import LedgerRow
from delayer.core.masking.mask import MASK
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.margins import STALE_AFTER
from delayer.core.schedule.schedule import Schedule
from delayer.core.schedule.schedule_id import address_of, is_undecided, point_in_time_of


@frozen(kw_only=True)
class Outline:
    """What a list shows of a schedule, whether it is still in the table or not."""

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
    waiting: Waiting | None = None  # what keeps it back although it is due
    history: tuple[Event, ...] = ()  # as far as the journal has come
    outline: Outline | None = None  # in a list
    decided_as: str = ""  # the schedule with its time, of which all else is said: it was accepted without one


def status_of(
    schedule_id: str, row: LedgerRow | None, record: Schedule | None, now: Millis, history: tuple[Event, ...] = ()
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
    schedule_id: str, row: LedgerRow | None, record: Schedule | None, history: tuple[Event, ...]
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
