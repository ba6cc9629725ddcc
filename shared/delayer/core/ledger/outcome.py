"""How a schedule ends, or goes on to its next attempt."""

from delayer.core.ledger.lifecycle import EventType, State
from delayer.core.ledger.row import Arrival, LedgerRow, amended, following, new_row
from delayer.core.schedule.instants import Millis
from delayer.core.schedule.margins import ROW_LIFETIME


def ended(
    row: LedgerRow, state: State, now: Millis, detail: str = "", answer: str = "", attempted_at: Millis = 0
) -> LedgerRow:
    """The row after its schedule came to an end."""
    return following(row, EventType(state), now, detail=detail, answer=answer, attempted_at=attempted_at)


def ended_unclaimed(schedule_id: str, owner: str, state: State, now: Millis, reason: str) -> LedgerRow:
    """The first row of a schedule that ends before it was ever claimed."""
    return new_row(EventType(state), schedule_id, owner, now, detail=reason)


def retried(
    row: LedgerRow,
    fence: str,
    now: Millis,
    detail: str = "",
    retry_at: Millis = 0,
    after: str = "",
    answer: str = "",
    attempted_at: Millis = 0,
    *,
    is_probe: bool = False,
) -> LedgerRow:
    """The row after an attempt failed; `fence` names the message for the next one, which may be made at `retry_at`.

    `after` is the token of the message whose attempt failed, if another one is in the row. A probe has a number like
    any other attempt, since no two messages may make the same; that it does not count is said beside it.
    """
    return following(
        row,
        EventType.ATTEMPT_FAILED,
        now,
        attempt=row.attempt + 1,
        probes=row.probes + is_probe,
        fence=fence,
        retry_of=after or row.fence,
        retry_at=retry_at,
        arrival=Arrival.UNKNOWN,
        detail=detail,
        answer=answer,
        attempted_at=attempted_at,
    )


def hopped(row: LedgerRow, fence: str, now: Millis, after: str, retry_at: Millis = 0) -> LedgerRow:
    """The row before a message that may not make its attempt yet is sent once more: the same attempt.

    At the same time, unless `retry_at` puts it off: then something keeps back what is for its target (ADR 0110).
    `fence` names the message that waits on, and `after` the one that sends it. All others for this attempt are
    overtaken from now on, so that what was sent twice does not become more and more (ADR 0087).
    """
    kept_until = max(row.expires_at, now + ROW_LIFETIME)
    return amended(
        row,
        fence=fence,
        retry_of=after,
        arrival=Arrival.UNKNOWN,
        expires_at=kept_until,
        retry_at=retry_at or row.retry_at,
    )


def contested(row: LedgerRow) -> LedgerRow:
    """The row before another message is sent for its attempt: the first that arrives makes it (ADR 0084)."""
    return amended(row, arrival=Arrival.CONTESTED)


def taken(row: LedgerRow, fence: str) -> LedgerRow:
    """The row before a contested attempt is made: by the message with this token, and by no other."""
    return amended(row, fence=fence, arrival=Arrival.TAKEN)


def stopped(row: LedgerRow, now: Millis) -> LedgerRow:
    """The row of a claimed schedule after its owner asked that no further attempt starts."""
    return following(row, EventType.STOP_REQUESTED, now, at=row.at, expires_at=row.expires_at, stopped_at=now)


def stopped_for_good(row: LedgerRow, now: Millis) -> LedgerRow:
    """The row of a dead letter that its owner has stopped: it has an end, and is not redriven."""
    last = f"; before that: {row.detail}" if row.detail else ""
    return following(row, EventType.DROPPED, now, stopped_at=now, detail=f"stopped by its owner{last}")


def may_end(current: LedgerRow, nonce: str, fence: str, attempt: int, state: State) -> bool:
    """Whether an executor may write its outcome over a row that is not the one it read.

    `nonce`, `fence` and `attempt` are those of its message. If the target accepted the attempt, that is true whatever
    the row says now, and it counts more than the end that another message of the same claim has written. If the attempt
    failed, that counts only as long as no other message has taken its place.
    """
    if current.nonce != nonce:
        return False
    if state is State.EXECUTED:
        return not current.ended or current.state in (State.DEAD_LETTERED, State.FAILED, State.DROPPED)
    return not current.ended and current.admits(fence, attempt)
