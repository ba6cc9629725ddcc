"""What an executor decides: never early, each attempt by one message only, retries that end."""

from itertools import pairwise

import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st

from delayer.core.firing.executing import (
    DEFAULT_ATTEMPTS,
    MAX_ATTEMPTS,
    MAX_RETRY_SECONDS,
    Attempt,
    GiveUp,
    Hold,
    Orphan,
    Refused,
    Retry,
    SendNext,
    Stop,
    Take,
    TooEarly,
    TryAgain,
    decide_attempt,
    decide_next,
    decide_wait,
    lateness,
    retry_seconds,
)
from delayer.core.firing.relaying import MAX_HOLD
from delayer.core.ledger.lifecycle import ENDS, State
from delayer.core.ledger.outcome import contested, retried, taken
from delayer.core.ledger.row import Arrival, LedgerRow, Refuse
from delayer.core.schedule.instants import DAY, MINUTE, SECOND, YEAR, Millis
from tests.samples import NOW, a_claim, an_executor_message, an_id

ids = st.integers(0, YEAR).map(lambda at: an_id(NOW + at))
attempts = st.integers(1, MAX_ATTEMPTS)


@given(st.one_of(st.integers(-YEAR, YEAR), st.integers(-5 * SECOND, 5 * SECOND)))
@example(0)
@example(1)
@example(MAX_HOLD)
@example(MAX_HOLD + 1)
def test_no_attempt_begins_before_the_point_in_time(offset: Millis) -> None:
    """Due: now. A little early: when it is due. Far too early: back into the queue, to be looked at again."""
    match decide_wait(an_executor_message(NOW + offset), NOW):
        case None:
            assert offset <= 0
        case Hold(until):
            assert until == NOW + offset
            assert 0 < offset <= MAX_HOLD
        case TooEarly():
            assert offset > MAX_HOLD


@given(st.integers(-YEAR, YEAR))
def test_after_the_wait_it_is_due(offset: Millis) -> None:
    """Following the decisions, whatever the clock says at first, ends at or after the point in time."""
    message, now = an_executor_message(NOW + offset), NOW
    for _ in range(40_000):
        match decide_wait(message, now):
            case None:
                break
            case Hold(until):
                now = until
            case TooEarly():
                now += offset // 2
    assert now >= message.schedule.point_in_time
    assert decide_wait(message, now) is None


def test_the_message_with_the_fencing_token_of_the_row_may_attempt() -> None:
    assert decide_attempt(an_executor_message(), a_claim()) == Attempt()


def test_without_a_row_nothing_is_attempted() -> None:
    assert decide_attempt(an_executor_message(), None) == Orphan()


@pytest.mark.parametrize("state", sorted(ENDS))
def test_after_an_end_nothing_is_attempted(state: State) -> None:
    decision = decide_attempt(an_executor_message(), a_claim(state=state))
    assert decision == Refuse(f"already {state}")


def test_another_copy_holds_the_claim() -> None:
    assert isinstance(decide_attempt(an_executor_message(nonce="n2"), a_claim()), Refuse)


def test_a_failed_message_that_comes_again_sends_the_next_attempt_again() -> None:
    """It may have died between the ledger and the queue; it must not attempt once more itself."""
    row = retried(a_claim(), "d2", NOW)
    message = an_executor_message()
    assert decide_attempt(message, row) == SendNext()
    assert decide_attempt(evolve(message, fence="d2", attempt=2), row) == Attempt()


def test_of_several_messages_for_one_retry_the_first_that_arrives_makes_it() -> None:
    """Nobody knows which of them were sent: each may be the only one, until one has said that it is there."""
    row = contested(retried(a_claim(), "d2", NOW))
    first, again = an_executor_message(fence="d2", attempt=2), an_executor_message(fence="d3", attempt=2)
    failed = an_executor_message()
    assert decide_attempt(first, row) == decide_attempt(again, row) == Take()
    assert decide_attempt(failed, row) == SendNext(), "it comes again: whatever it has sent may not have arrived"
    after = taken(row, "d3")
    assert decide_attempt(again, after) == Attempt()
    assert isinstance(decide_attempt(first, after), Refuse)
    assert isinstance(decide_attempt(failed, after), Refuse)
    following = retried(after, "d4", NOW)
    assert decide_attempt(again, following) == SendNext()
    assert isinstance(decide_attempt(first, following), Refuse)


def test_of_two_hand_overs_the_first_that_arrives_makes_the_attempt() -> None:
    """The relay claimed again, because it did not know whether its first hand-over had arrived."""
    row = a_claim(fence="d2", arrival=Arrival.CONTESTED)
    first, second = an_executor_message(fence="d1"), an_executor_message(fence="d2")
    assert decide_attempt(first, row) == decide_attempt(second, row) == Take()
    after = taken(row, "d1")
    assert decide_attempt(first, after) == Attempt()
    assert isinstance(decide_attempt(second, after), Refuse)
    assert isinstance(decide_attempt(evolve(first, nonce="n2"), row), Refuse), "another copy of the schedule"


def test_what_may_be_made_is_stopped_by_its_owner() -> None:
    row = a_claim(fence="d2", arrival=Arrival.CONTESTED, stopped_at=NOW)
    assert decide_attempt(an_executor_message(fence="d1"), row) == Stop()


@given(st.integers(1, 8))
def test_each_attempt_belongs_to_one_fencing_token(failures: int) -> None:
    """After any number of failures, of all messages there ever were one attempts, one repeats its send, and the
    others are dropped."""
    row: LedgerRow = a_claim()
    messages = [an_executor_message()]
    for attempt in range(2, failures + 2):
        row = retried(row, f"d{attempt}", NOW)
        messages.append(evolve(messages[-1], fence=f"d{attempt}", attempt=attempt))
    decisions = [decide_attempt(message, row) for message in messages]
    assert decisions[-1] == Attempt()
    assert decisions[-2] == SendNext()
    assert all(isinstance(decision, Refuse) for decision in decisions[:-2])
    assert row.attempt == messages[-1].attempt == failures + 1


@given(ids, attempts)
def test_the_wait_grows_to_what_sqs_can_delay(schedule_id: str, attempt: int) -> None:
    whole = min(4 ** (attempt - 1), MAX_RETRY_SECONDS)
    seconds = retry_seconds(schedule_id, attempt)
    assert max(1, whole * 3 // 4) <= seconds <= whole
    assert seconds == retry_seconds(schedule_id, attempt), "the same for a message that repeats its send"


@given(ids)
def test_no_wait_is_shorter_than_the_one_before(schedule_id: str) -> None:
    waits = [retry_seconds(schedule_id, attempt) for attempt in range(1, MAX_ATTEMPTS + 1)]
    growing = waits[:6]  # 1 … 900; from there on it is only spread
    assert all(one < other for one, other in pairwise(growing))
    assert all(wait >= MAX_RETRY_SECONDS * 3 // 4 for wait in waits[5:])


def test_what_failed_together_does_not_come_back_together() -> None:
    waits = {retry_seconds(an_id(NOW + at), 6) for at in range(200)}
    assert len(waits) > 50


@given(ids, attempts, st.integers(-DAY, DAY))
def test_the_delay_that_a_target_asks_for_is_kept_up_to_what_sqs_can_delay(
    schedule_id: str, attempt: int, wish: int
) -> None:
    assert retry_seconds(schedule_id, attempt, wish) == min(max(wish, 1), MAX_RETRY_SECONDS)


@given(attempts, st.integers(1, MAX_ATTEMPTS))
def test_retries_end(attempt: int, max_attempts: int) -> None:
    message = evolve(an_executor_message(), attempt=attempt)
    decision = decide_next(message, Retry(detail="HTTP 503"), max_attempts)
    if attempt < max_attempts:
        assert decision == TryAgain(retry_seconds(message.schedule.id, attempt))
    else:
        assert isinstance(decision, GiveUp)
        assert "HTTP 503" in decision.reason
        assert str(attempt) in decision.reason


@given(attempts)
def test_a_refusal_is_final(attempt: int) -> None:
    message = evolve(an_executor_message(), attempt=attempt)
    assert decide_next(message, Refused("HTTP 404"), MAX_ATTEMPTS) == GiveUp("HTTP 404")


def test_the_delay_that_a_target_asks_for_is_passed_on() -> None:
    asked = Retry(detail="HTTP 429", after_seconds=77)
    assert decide_next(an_executor_message(), asked, DEFAULT_ATTEMPTS) == TryAgain(77)


@given(st.integers(0, YEAR))
def test_lateness(late: Millis) -> None:
    assert lateness(an_executor_message(NOW), NOW + late) == late


def test_default_retries_last_more_than_an_hour() -> None:
    waits = [retry_seconds(an_id(), attempt) for attempt in range(1, DEFAULT_ATTEMPTS)]
    assert sum(waits) > 45 * MINUTE // SECOND
