"""How a schedule ends, or goes on to its next attempt: only by the table, and nothing that is known gets lost."""

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from delayer.ledger.model import ENDS, Arrival, EventType, IllegalTransition, State, detail_of
from delayer.ledger.rules import contested, ended, ended_unclaimed, hopped, may_end, retried
from delayer.schedule.instants import DAY, ROW_LIFETIME
from tests.samples import NOW, OWNER, a_claim, an_executor_message, an_id
from tests.transitions import is_allowed


@given(st.sampled_from(sorted(ENDS)), st.text(max_size=20))
def test_an_end_keeps_what_was_known(state: State, detail: str) -> None:
    """What a claimed schedule cannot end as is refused."""
    claim = a_claim()
    if not is_allowed(State.CLAIMED, EventType(state), state):
        with pytest.raises(IllegalTransition, match=f"{state} leads from claimed"):
            ended(claim, state, NOW + 1, detail)
        return
    row = ended(claim, state, NOW + 1, detail)
    assert row.ended
    assert (row.state, row.revision, row.at, row.detail) == (state, 2, NOW + 1, detail_of(detail))
    assert (row.nonce, row.attempt, row.claimed_at) == (claim.nonce, claim.attempt, claim.claimed_at)


def test_a_claim_is_no_end() -> None:
    assert not a_claim().ended


def test_a_retry_passes_the_attempt_on() -> None:
    row = retried(a_claim(), "d2", NOW + 1)
    assert (row.attempt, row.fence, row.retry_of, row.revision) == (2, "d2", "d1", 2)
    assert row.state is State.CLAIMED


def test_a_hop_changes_the_message_and_nothing_else() -> None:
    """But the row lives on for as long as after any other write: the attempt may be days away."""
    waiting = evolve(retried(a_claim(), "d2", NOW + 1, "HTTP 503", retry_at=NOW + 9 * DAY), age_from=NOW, stopped_at=3)
    row = hopped(contested(waiting), "d4", NOW + DAY, after="d3")
    assert (row.fence, row.retry_of, row.arrival, row.generation) == ("d4", "d3", Arrival.UNKNOWN, 2)
    assert hopped(row, "d5", NOW + DAY, after="d4").generation == 3
    assert retried(row, "d5", NOW + DAY, "HTTP 503").generation == 1, (
        "the number tells the messages of the next attempt"
    )
    assert row.expires_at == NOW + DAY + ROW_LIFETIME
    same = evolve(
        row, fence="d2", retry_of="d1", generation=1, revision=waiting.revision, expires_at=waiting.expires_at
    )
    assert same == waiting
    later = evolve(waiting, expires_at=NOW + 90 * DAY)
    assert hopped(later, "d3", NOW, after="d2").expires_at == NOW + 90 * DAY


def test_an_end_without_a_claim() -> None:
    row = ended_unclaimed(an_id(), OWNER, State.DEAD_LETTERED, NOW + 1, "why")
    assert (row.state, row.revision, row.detail, row.nonce) == (State.DEAD_LETTERED, 1, "why", "")
    assert row.ended


FINAL = (State.EXECUTED, State.CANCELLED, State.REPLACED, State.DECIDED)


@pytest.mark.parametrize("state", [State.EXECUTED, State.FAILED])
@pytest.mark.parametrize("current", sorted(ENDS | {State.CLAIMED, State.SCHEDULED}))
@pytest.mark.parametrize("nonce", ["n1", "n2"])
@pytest.mark.parametrize("fence", ["d1", "d2"])
def test_an_outcome_over_a_row_that_has_changed(state: State, current: State, nonce: str, fence: str) -> None:
    """That the target took it is true whoever holds the claim now; that it failed is this message's own word."""
    message = an_executor_message()
    row = a_claim(nonce=nonce, fence=fence, state=current)
    allowed = may_end(row, message.nonce, message.fence, message.attempt, state)
    if nonce != "n1" or current in FINAL:
        assert not allowed
    elif state is State.EXECUTED:
        assert allowed
    else:
        assert allowed == (fence == "d1" and current not in ENDS)
