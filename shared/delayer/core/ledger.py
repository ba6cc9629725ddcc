"""The ledger decides: at most one row per schedule, the single place where an end is decided (ADR 0018).

Every change of a row is a compare-and-set on its revision; what to change it to is decided here, as data.
"""

from enum import StrEnum
from typing import Final

from attrs import evolve, frozen

from delayer.core.instants import DAY, Millis
from delayer.core.lifecycle import ENDS, State
from delayer.core.schedule_id import address_of
from delayer.core.wire import DelayerMessage, ExecutorMessage

ROW_LIFETIME: Final[Millis] = 30 * DAY  # after the later of due and the write (ADR 0023)
PUT_BACK: Final = "put back"  # in place of a delivery, while the body that was put back is about to be deleted
STALE_AFTER: Final[Millis] = 29 * DAY  # a copy this late is set aside: its row may be about to expire


@frozen(kw_only=True)
class LedgerRow:
    """What stands about one schedule."""

    schedule_id: str
    owner: str
    state: State  # claimed, or an end; scheduled if it was put back, or has a name
    revision: int  # 1 for the first write; the compare-and-set goes by it
    at: Millis  # when this state was written
    expires_at: Millis  # when DynamoDB may delete the row
    nonce: str = ""  # of the message that holds the claim; empty if there never was one
    lease_until: Millis = 0  # until then, the function that claimed may still be at it
    claimed_at: Millis = 0
    attempt: int = 0  # the attempt that is under way or waits to be made; 1 at the claim
    delivery: str = ""  # the one message that may make this attempt; any other was overtaken
    retry_of: str = ""  # the delivery whose failure led to this attempt, empty for the first
    detail: str = ""  # for people: the target's answer, or the reason of an end
    name: str = ""  # under which its owner may replace it; a named schedule has a row from the start
    replaced_by: str = ""  # the id of the schedule that took its place
    stopped_at: Millis = 0  # when its owner wished that no further attempt starts
    lateness: Millis = 0  # of its first attempt, once that was made

    @property
    def ended(self) -> bool:
        """Whether it came to an end, of whatever kind."""
        return self.state in ENDS

    @property
    def was_attempted(self) -> bool:
        """Whether its first attempt was made, so that its lateness is known."""
        return self.state in (State.EXECUTED, State.FAILED) or bool(self.retry_of or self.lateness)


@frozen
class Claim:
    """Write `row`: as the first of its schedule, or in place of `over`."""

    row: LedgerRow
    over: LedgerRow | None = None


@frozen
class ComeBack:
    """Somebody holds the claim under the same nonce and may still be at it: look again later."""


@frozen
class Refuse:
    """Nothing is to be done. `reason` is for the log."""

    reason: str


Verdict = Claim | ComeBack | Refuse


def first_claim(message: DelayerMessage, delivery: str, now: Millis, lease: Millis) -> LedgerRow:
    """The row a relay puts if none stands. `delivery` is fresh; `lease` is the relay's function timeout."""
    return LedgerRow(
        schedule_id=message.id,
        owner=message.owner,
        state=State.CLAIMED,
        revision=1,
        at=now,
        expires_at=max(message.point_in_time, now) + ROW_LIFETIME,
        nonce=message.nonce,
        delivery=delivery,
        lease_until=now + lease,
        claimed_at=now,
        attempt=1,
    )


def decide_claim(wanted: LedgerRow, standing: LedgerRow | None) -> Verdict:
    """What a relay does, given the row that stands. Its own crash it may repair; a second copy it must not fire."""
    if standing is None:
        return Claim(wanted)
    if standing.ended:
        return Refuse(f"already {standing.state}")
    if standing.state is State.SCHEDULED:
        if standing.nonce not in ("", wanted.nonce):
            return Refuse("a second copy: another one was put back")
        return Claim(evolve(wanted, revision=standing.revision + 1, name=standing.name), standing)
    if standing.nonce != wanted.nonce:
        return Refuse("a second copy: another one holds the claim")
    if standing.retry_of:
        return Refuse("it reached its executor: an attempt was made")
    if wanted.at < standing.lease_until:
        return ComeBack()
    again = evolve(
        wanted,
        revision=standing.revision + 1,
        claimed_at=standing.claimed_at,
        name=standing.name,
        stopped_at=standing.stopped_at,
    )
    return Claim(again, standing)


def decide_drop(wanted: LedgerRow, standing: LedgerRow | None, now: Millis, reason: str) -> Verdict:
    """What a relay does with a copy that is to be dropped: the end instead of the claim.

    What was claimed before is claimed anew and handed over: its first relay may have done so already.
    """
    verdict = decide_claim(wanted, standing)
    if not isinstance(verdict, Claim) or (standing and standing.state is State.CLAIMED):
        return verdict
    row = first_end(wanted.schedule_id, wanted.owner, State.DROPPED, now, reason)
    over = verdict.over
    return Claim(evolve(row, revision=over.revision + 1, name=over.name) if over else row, over)


def ended(row: LedgerRow, state: State, now: Millis, detail: str = "") -> LedgerRow:
    """The row after its schedule came to an end."""
    return evolve(
        row,
        state=state,
        revision=row.revision + 1,
        at=now,
        expires_at=max(row.expires_at, now + ROW_LIFETIME),
        detail=detail,
    )


def stopped(row: LedgerRow, now: Millis) -> LedgerRow:
    """The row of a claimed schedule after its owner wished that no further attempt starts."""
    return evolve(row, revision=row.revision + 1, stopped_at=now)


def retried(row: LedgerRow, following: str, now: Millis, detail: str = "") -> LedgerRow:
    """The row after an attempt failed, with the delivery that is to make the next one; `detail` says why."""
    return evolve(
        row,
        revision=row.revision + 1,
        at=now,
        expires_at=max(row.expires_at, now + ROW_LIFETIME),
        attempt=row.attempt + 1,
        delivery=following,
        retry_of=row.delivery,
        detail=detail,
    )


def may_end(standing: LedgerRow, message: ExecutorMessage, state: State) -> bool:
    """Whether an executor may write its outcome over a row that is not the one it read.

    That the target took it is true whoever claims it now, and truer than that a twin failed, was stopped or was set
    aside; that it failed is only this delivery's own word.
    """
    if standing.nonce != message.nonce:
        return False
    if state is State.EXECUTED:
        return not standing.ended or standing.state in (State.SET_ASIDE, State.FAILED, State.DROPPED)
    return not standing.ended and standing.delivery == message.delivery


def reopened(row: LedgerRow, nonce: str, now: Millis) -> LedgerRow:
    """The row of a schedule that is put back: it can be claimed, and cancelled, as if there were none.

    `nonce` is that of the copy sent to the delayer queue, which alone may claim it; empty if it went to the table. The
    row stays, and its revision goes on: what was decided by an older revision cannot be repeated.
    """
    first = first_opened(row.schedule_id, row.owner, nonce, now)
    return evolve(first, revision=row.revision + 1, name=row.name)


def first_opened(schedule_id: str, owner: str, nonce: str, now: Millis) -> LedgerRow:
    """The same for a schedule without a row: a mark that comes late has something to lose against."""
    return LedgerRow(
        schedule_id=schedule_id,
        owner=owner,
        state=State.SCHEDULED,
        revision=1,
        at=now,
        expires_at=max(address_of(schedule_id).due, now) + ROW_LIFETIME,
        nonce=nonce,
        delivery="" if nonce else PUT_BACK,
        detail="put back",
    )


def settled(row: LedgerRow) -> LedgerRow:
    """The row of what was put back into the table, once no kept body of it is left: it may be set aside again."""
    return evolve(row, revision=row.revision + 1, delivery="")


def named(schedule_id: str, owner: str, name: str, now: Millis) -> LedgerRow:
    """The row that a schedule with a name begins with: whoever has the id finds the name by it (ADR 0042)."""
    return LedgerRow(
        schedule_id=schedule_id,
        owner=owner,
        state=State.SCHEDULED,
        revision=1,
        at=now,
        expires_at=max(address_of(schedule_id).due, now) + ROW_LIFETIME,
        name=name,
    )


def may_need_body(row: LedgerRow) -> bool:
    """Whether a kept body may be the only copy: it failed, was set aside, or is just being put back."""
    return row.state in (State.FAILED, State.SET_ASIDE, State.SCHEDULED)


class Keep(StrEnum):
    """What becomes of a body about to be set aside."""

    MARK = "mark"  # keep it, and write the end into the ledger
    ALREADY = "already"  # keep it; the ledger says so already, or is just being put back
    NEEDLESS = "needless"  # it ended otherwise, or another copy lives: throw this one away


def decide_set_aside(standing: LedgerRow | None, nonce: str, delivery: str = "") -> Keep:
    """Whether this copy may be the schedule's last hope.

    `nonce` is empty for a copy never sent, `delivery` for one not handed over yet. Where two copies might be the last,
    it is kept: a schedule set aside is seen by a person, one thrown away is lost.
    """
    if standing is None:
        return Keep.MARK
    if standing.state is State.SET_ASIDE:
        return Keep.ALREADY
    if standing.state is State.SCHEDULED:
        # The put-back may not have sent its copy yet, and this body may be the very object that it reads.
        return Keep.MARK if standing.nonce in ("", nonce) and not standing.delivery else Keep.ALREADY
    if standing.ended or standing.nonce != nonce:
        return Keep.NEEDLESS
    if delivery and standing.retry_of:
        return Keep.MARK if delivery in (standing.delivery, standing.retry_of) else Keep.NEEDLESS
    if delivery:
        return Keep.MARK  # if a new claim has overtaken it, that one's hand-over may never have been made
    return Keep.NEEDLESS if standing.retry_of else Keep.MARK


def first_end(schedule_id: str, owner: str, state: State, now: Millis, reason: str) -> LedgerRow:
    """The row of a schedule that ends before it was ever claimed."""
    return LedgerRow(
        schedule_id=schedule_id,
        owner=owner,
        state=state,
        revision=1,
        at=now,
        expires_at=max(address_of(schedule_id).due, now) + ROW_LIFETIME,
        detail=reason,
    )
