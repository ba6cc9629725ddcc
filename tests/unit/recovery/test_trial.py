"""Who is a killer, and who only met an outage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delayer.recovery.rules import (
    BLOCKS_AT_MOST,
    PROOFS,
    WAITS_AT_MOST,
    GiveUpSuspect,
    SetAsideSuspect,
    Trial,
    Try,
    decide_record_trial,
    decide_trial,
    has_waited,
)
from delayer.schedule.instants import MINUTE, Millis
from tests.samples import NOW


def tries(passes: list[bool]) -> list[Try | GiveUpSuspect]:
    """Runs that all die, a minute apart; before each of them, others may have passed."""
    decisions: list[Try | GiveUpSuspect] = []
    before, passed, now = None, None, NOW
    for others_pass in passes:
        now += MINUTE
        passed = now - 1 if others_pass else passed
        decision = decide_trial(before, passed, 0, now)
        decisions.append(decision)
        before = decision.trial if isinstance(decision, Try) else before
    return decisions


def test_what_dies_while_others_pass_is_given_up() -> None:
    *tried, last = tries([True] * (PROOFS + 1))
    assert all(isinstance(one, Try) for one in tried)
    assert last == GiveUpSuspect("its function died of it 5 times, and came to the end of others in between")


@given(st.integers(1, 300))
def test_when_all_die_none_is_given_up(runs: int) -> None:
    """A bad deploy: the fault is the function's, however long it lasts."""
    assert all(isinstance(one, Try) for one in tries([False] * runs))


@given(st.integers(1, 300))
def test_after_a_bad_deploy_it_is_tried_once_more(runs: int) -> None:
    """Another is first to pass: that proves nothing against this one."""
    assert isinstance(tries([False] * runs + [True])[-1], Try)


def test_the_first_run_is_no_proof() -> None:
    assert decide_trial(None, NOW, 0, NOW) == Try(Trial(began=NOW))


@pytest.mark.parametrize(("waited", "given_up"), [(WAITS_AT_MOST, False), (WAITS_AT_MOST + 1, True)])
def test_nothing_waits_until_sqs_deletes_it(waited: Millis, given_up: bool) -> None:
    assert has_waited(NOW - waited, NOW) == given_up
    assert isinstance(decide_trial(Trial(began=NOW - 1), None, NOW - waited, NOW), GiveUpSuspect) == given_up


def test_what_waits_for_the_end_of_a_long_outage_is_tried_once_more() -> None:
    assert decide_trial(None, None, NOW - 2 * WAITS_AT_MOST, NOW) == Try(Trial(began=NOW))
    assert not has_waited(0, NOW), "it is not known when it was sent"


@pytest.mark.parametrize(
    ("before", "age", "expected"),
    [
        (None, BLOCKS_AT_MOST + 1, Try),
        (Trial(began=NOW - 1), BLOCKS_AT_MOST, Try),
        (Trial(began=NOW - 1), BLOCKS_AT_MOST + 1, SetAsideSuspect),
        (Trial(began=NOW - 1, proofs=PROOFS), BLOCKS_AT_MOST + 1, GiveUpSuspect),
    ],
)
def test_a_record_that_kills_its_function_holds_up_its_shard_for_five_minutes(
    before: Trial | None, age: Millis, expected: type
) -> None:
    assert isinstance(decide_record_trial(before, None, NOW - age, NOW), expected)
