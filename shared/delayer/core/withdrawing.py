"""What a client takes back: a schedule is cancelled, or replaced by another. The ledger row alone decides (ADR 0040).

Where the record or the message is just then does not matter: no copy of it can be claimed once the row has an end.
"""

from typing import Final

from attrs import evolve, frozen

from delayer.core.instants import Millis
from delayer.core.ledger import ROW_LIFETIME, STALE_AFTER, LedgerRow, ended, first_end, stopped
from delayer.core.lifecycle import State
from delayer.core.schedule_id import address_of

CANCELLED: Final = "cancelled by its owner"


@frozen
class Withdraw:
    """Write `row`: as the first of its schedule, or in place of `over`."""

    row: LedgerRow
    over: LedgerRow | None = None


@frozen
class Already:
    """It was cancelled before; saying so again is the truth."""

    row: LedgerRow


@frozen
class TooEarly:
    """No claim is taken yet: there is nothing to stop, it can be cancelled."""


@frozen
class TooLate:
    """Its claim is taken, or it has another end, which `row` tells. Nothing was changed."""

    row: LedgerRow


@frozen
class Expired:
    """So old that its row may be gone: nothing is written, and nothing can be told (ADR 0023)."""


@frozen
class NotFound:
    """This stack never issued the id to this owner."""


@frozen
class NameTaken:
    """A live schedule bears the name."""

    schedule_id: str


def decide_cancel(
    schedule_id: str, owner: str, standing: LedgerRow | None, now: Millis, detail: str = CANCELLED
) -> Withdraw | Already | TooLate | Expired:
    """Whether it will never reach an executor; `detail` says by whose wish. Raises ValueError if the id is none."""
    if now - address_of(schedule_id).due > STALE_AFTER:
        return Expired()
    if standing is None:
        return Withdraw(first_end(schedule_id, owner, State.CANCELLED, now, detail))
    if standing.state is State.CANCELLED:
        return Already(standing)
    if _is_untouched(standing):
        return Withdraw(ended(standing, State.CANCELLED, now, detail), standing)
    return TooLate(standing)


def decide_replace(
    schedule_id: str, owner: str, standing: LedgerRow | None, by: str, now: Millis
) -> Withdraw | TooLate | Expired:
    """Whether `by` may take its place. Raises ValueError if one of the ids is none."""
    if now - address_of(schedule_id).due > STALE_AFTER:
        return Expired()
    if standing is None:
        row = first_end(schedule_id, owner, State.REPLACED, now, "")
    elif _is_untouched(standing) or standing.state in (State.SET_ASIDE, State.FAILED):
        row = ended(standing, State.REPLACED, now)  # its body could be put back, and there would be two
    else:
        return TooLate(standing)
    return Withdraw(_pointing_to(by, row, now), standing)


def decide_stop(
    schedule_id: str, standing: LedgerRow | None, now: Millis
) -> Withdraw | Already | TooEarly | TooLate | Expired:
    """Whether no further attempt is to start. Raises ValueError if the id is none."""
    if standing is None:
        return Expired() if now - address_of(schedule_id).due > STALE_AFTER else TooEarly()
    if standing.ended:
        return Already(standing) if standing.stopped_at else TooLate(standing)
    if standing.state is State.SCHEDULED:
        return TooEarly()
    return Already(standing) if standing.stopped_at else Withdraw(stopped(standing, now), standing)


def is_over(schedule_id: str, row: LedgerRow | None, now: Millis) -> bool:
    """Whether its name is free. Raises ValueError if the id is none."""
    return now - address_of(schedule_id).due > STALE_AFTER or not is_live(row)


def is_live(row: LedgerRow | None) -> bool:
    """Whether a schedule may still fire, or be put back, so that a namesake has to take its place."""
    return row is None or not row.ended or row.state in (State.SET_ASIDE, State.FAILED)


def _is_untouched(row: LedgerRow) -> bool:
    """No executor has seen it, and none will: it waits, or was set aside before its claim."""
    return row.state is State.SCHEDULED or (row.state is State.SET_ASIDE and not row.claimed_at)


def _pointing_to(by: str, row: LedgerRow, now: Millis) -> LedgerRow:
    """The old one's row stands as long as the new one's: who asks for the old one is told of the new."""
    later = max(address_of(by).due, now) + ROW_LIFETIME
    return evolve(row, replaced_by=by, expires_at=max(row.expires_at, later))
