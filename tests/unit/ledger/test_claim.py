"""Who may claim: the first copy, or the same message again once its lease has lapsed."""

from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st

from delayer.ledger.model import ENDS, LedgerChange, Refuse, RetryLater, State
from delayer.ledger.rules import decide_claim, decide_drop
from delayer.schedule.instants import DAY, Millis
from tests.samples import LEASE, NOW, a_claim, a_wanted, an_id

states = st.sampled_from(sorted(ENDS | {State.CLAIMED}))


def test_the_first_claims() -> None:
    verdict = decide_claim(a_wanted(), None)
    assert isinstance(verdict, LedgerChange)
    assert verdict.over is None
    row = verdict.row
    assert (row.state, row.revision, row.attempt) == (State.CLAIMED, 1, 1)
    assert (row.schedule_id, row.nonce, row.fence, row.claimed_at) == (an_id(), "n1", "fresh", NOW)
    assert row.lease_until == NOW + LEASE


@given(states, st.sampled_from(["n1", "n2", ""]), st.sampled_from(["", "d0"]), st.integers(-DAY, DAY))
@example(State.CLAIMED, "n1", "", LEASE)
@example(State.CLAIMED, "n1", "", LEASE - 1)
@example(State.CLAIMED, "n1", "d0", LEASE)
@example(State.CLAIMED, "n2", "", LEASE)
@example(State.EXECUTED, "n1", "", LEASE)
def test_against_any_current_row(state: State, nonce: str, retry_of: str, later: Millis) -> None:
    """All combinations: a claim is written over a row only if it is the same message's own, its lease has lapsed,
    nothing was attempted and nothing has ended."""
    current = a_claim(nonce=nonce, state=state, retry_of=retry_of, revision=4)
    wanted = a_wanted(now=NOW + later)
    verdict = decide_claim(wanted, current)
    mine = state is State.CLAIMED and nonce == "n1" and not retry_of
    match verdict:
        case LedgerChange(row=row, over=over):
            assert mine
            assert later >= LEASE
            assert over == current
            assert (row.revision, row.claimed_at, row.fence) == (5, current.claimed_at, "fresh")
        case RetryLater():
            assert mine
            assert later < LEASE
        case Refuse(reason):
            assert not mine
            assert reason


def test_a_second_copy_is_not_fired_however_long_the_lease_has_lapsed() -> None:
    assert isinstance(decide_claim(a_wanted("n2", NOW + 20 * DAY), a_claim(nonce="n1")), Refuse)


def test_what_was_cancelled_on_its_way_is_noted_once_and_not_claimed() -> None:
    """And only if the message tells when it was enqueued; whatever else has ended knows it already."""
    wanted = a_wanted()
    telling = evolve(wanted, message=evolve(wanted.message, enqueued_at=NOW))
    for state in ENDS:
        current = a_claim(state=state, nonce="", claimed_at=0, revision=1)
        verdict = decide_claim(telling, current)
        assert isinstance(decide_claim(wanted, current), Refuse)
        assert decide_drop(telling, current, "late") == verdict
        if state not in (State.CANCELLED, State.REPLACED):
            assert isinstance(verdict, Refuse)
            continue
        assert verdict == LedgerChange(row=evolve(current, revision=2, enqueued_at=NOW), over=current)
        assert isinstance(decide_claim(telling, verdict.row), Refuse)


def test_a_claim_and_a_drop_take_over_when_it_was_enqueued() -> None:
    wanted = a_wanted()
    telling = evolve(wanted, message=evolve(wanted.message, enqueued_at=NOW))
    for verdict in (decide_claim(telling, None), decide_drop(telling, None, "late")):
        assert isinstance(verdict, LedgerChange)
        assert verdict.row.enqueued_at == NOW
