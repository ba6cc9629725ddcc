"""A redriven schedule can be claimed and cancelled as if it had no row; its revision goes on."""

from delayer.dead_letters.model import Disposition, decide_disposition
from delayer.dead_letters.rules import redriven, settled
from delayer.ledger.model import LedgerChange, Refuse, State
from delayer.ledger.rules import decide_claim
from delayer.schedule.instants import ATTEMPT_OVER, DAY
from tests.samples import LEASE, NOW, OWNER, a_claim, a_wanted, an_id


def test_what_is_redriven_into_the_queue_is_claimed_by_its_own_copy_only() -> None:
    """An older copy may have lost its message meanwhile: if its relay died after the claim, nothing would be left."""
    current = a_claim(state=State.DEAD_LETTERED, revision=7, attempt=3, retry_of="d2")
    row = redriven(an_id(), OWNER, current, "n5", NOW + 1)
    assert (row.state, row.revision, row.attempt, row.retry_of) == (State.SCHEDULED, 8, 0, "")
    assert not row.ended
    assert isinstance(decide_claim(a_wanted("n1", NOW + 2), row), Refuse)
    verdict = decide_claim(a_wanted("n5", NOW + 2), row)
    assert isinstance(verdict, LedgerChange)
    assert (verdict.over, verdict.row.revision, verdict.row.nonce) == (row, 9, "n5")
    assert isinstance(decide_claim(a_wanted("n6", NOW + 20 * DAY), verdict.row), Refuse)


def test_what_is_redriven_keeps_until_when_an_attempt_from_before_may_be_under_way() -> None:
    """And that it was claimed: its owner may have been told so. The next claim begins anew."""
    first = a_claim(state=State.DEAD_LETTERED)
    row = redriven(an_id(), OWNER, first, "n5", NOW + 1)
    assert (row.claimed_at, row.lease_until) == (first.claimed_at, NOW + ATTEMPT_OVER)
    again = redriven(an_id(), OWNER, row, "n6", NOW + 2)
    assert (again.claimed_at, again.lease_until) == (first.claimed_at, NOW + ATTEMPT_OVER)
    verdict = decide_claim(a_wanted("n6", NOW + 3), again)
    assert isinstance(verdict, LedgerChange)
    assert (verdict.row.claimed_at, verdict.row.lease_until) == (NOW + 3, NOW + 3 + LEASE)


def test_what_is_redriven_into_the_table_is_claimed_by_any_copy() -> None:
    """The sweep gives it its nonce. Until its body is deleted it is not dead-lettered again."""
    row = redriven(an_id(), OWNER, a_claim(state=State.DEAD_LETTERED), "", NOW)
    assert isinstance(decide_claim(a_wanted("n6", NOW + 2), row), LedgerChange)
    assert decide_disposition(row, "") is Disposition.STORE
    assert decide_disposition(settled(row), "") is Disposition.MARK
