"""The retry policy of a schedule: what is given and what is not, and the delays that follow from it."""

import json
from itertools import pairwise

import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st

from delayer.accept.rules.admission import admit
from delayer.actions.rules.foreign import built_in
from delayer.actions.rules.model import Retry
from delayer.execute.rules import GiveUp, Made, TryAgain, decide_next
from delayer.http.field_errors import REQUEST
from delayer.schedule.instants import DAY, MINUTE, SECOND, YEAR, Malformed
from delayer.schedule.retrying import (
    DEFAULT,
    MAX_AGE_SECONDS,
    MAX_ATTEMPTS,
    MAX_FACTOR,
    MAX_FIRST_SECONDS,
    RetryPolicy,
    allows_another,
    backoff_seconds,
    policy_of,
    retry_seconds,
)
from delayer.schedule.schedule import Definition
from tests.samples import ACTION, NOW, an_executor_message, an_id

ids = st.integers(0, YEAR).map(lambda at: an_id(NOW + at))
policies = st.builds(
    RetryPolicy,
    first=st.integers(1, MAX_FIRST_SECONDS),
    factor=st.floats(1, MAX_FACTOR),
    longest=st.integers(1, MAX_AGE_SECONDS),
)
ages = st.integers(1, 10).map(lambda seconds: seconds * SECOND)
firsts = st.integers(1, 12)
every_attempt = range(1, MAX_ATTEMPTS + 1)


def a_definition(retry: object = None, **action: object) -> Definition:
    return Definition(action=json.dumps({**ACTION, **action}), retry="" if retry is None else json.dumps(retry))


def test_without_a_policy_the_defaults_count() -> None:
    assert policy_of(a_definition()) == DEFAULT == RetryPolicy()
    assert policy_of(a_definition({})) == DEFAULT
    assert [backoff_seconds(DEFAULT, attempt) for attempt in range(1, 8)] == [1, 4, 16, 64, 256, 900, 900]


def test_each_part_of_a_policy_counts_and_leaves_the_others_as_they_are() -> None:
    whole = {"maxAttempts": 3, "maxAgeSeconds": 60, "backoff": {"first": 2, "factor": 1.5, "max": 7}}
    expected = RetryPolicy(max_attempts=3, max_age=MINUTE, first=2, factor=1.5, longest=7)
    assert policy_of(a_definition(whole)) == expected
    assert policy_of(a_definition({"maxAttempts": 3})) == evolve(DEFAULT, max_attempts=3)
    assert policy_of(a_definition({"backoff": {"factor": 2}})) == evolve(DEFAULT, factor=2)


def test_a_first_delay_beyond_the_longest_one_counts() -> None:
    """Whoever gives only `first`, of an hour, means an hour."""
    policy = policy_of(a_definition({"backoff": {"first": 3600}}))
    assert [backoff_seconds(policy, attempt) for attempt in (1, 2, 9)] == [3600] * 3


def test_the_attempts_of_an_older_schedule_still_count() -> None:
    """They were a field of its action. Nothing else of it says how it is repeated."""
    assert policy_of(a_definition(maxAttempts=3)) == evolve(DEFAULT, max_attempts=3)
    assert policy_of(a_definition({"maxAgeSeconds": 9}, maxAttempts=3)).max_attempts == 3
    assert policy_of(a_definition({"maxAttempts": 4}, maxAttempts=3)).max_attempts == 4


@pytest.mark.parametrize(
    "retry", [[], "x", {"maxAttempts": "3"}, {"maxAgeSeconds": 1.5}, {"backoff": {"first": None}}], ids=str
)
def test_a_policy_of_a_wrong_shape_is_malformed(retry: object) -> None:
    with pytest.raises(Malformed, match="a retry policy that cannot be read"):
        policy_of(a_definition(retry))


@pytest.mark.parametrize("attempts", [-1, 0, 101, 10**30])
def test_what_the_api_would_have_refused_stays_within_bounds(attempts: int) -> None:
    policy = policy_of(a_definition(maxAttempts=min(attempts, 2**62)))
    assert 1 <= policy.max_attempts <= MAX_ATTEMPTS


def test_the_bounds_are_those_of_the_contract() -> None:
    """And so are the defaults."""
    fields = REQUEST.schema["properties"]["retry"]["properties"]
    backoff = fields["backoff"]["properties"]
    maxima = [one["maximum"] for one in (fields["maxAttempts"], fields["maxAgeSeconds"], *backoff.values())]
    assert maxima == [MAX_ATTEMPTS, MAX_AGE_SECONDS, MAX_FIRST_SECONDS, MAX_FACTOR, MAX_AGE_SECONDS]
    assert all(one["minimum"] == 1 for one in (fields["maxAttempts"], fields["maxAgeSeconds"], *backoff.values()))
    given_whole = {
        **{name: one["default"] for name, one in fields.items() if name != "backoff"},
        "backoff": {name: one["default"] for name, one in backoff.items()},
    }
    assert policy_of(a_definition(given_whole)) == DEFAULT


@pytest.mark.parametrize(
    "text", ['{"maxAttempts": 7.0}', '{"backoff": {"factor": 1.25e0}}', '{"backoff": {"first": 9E1}}']
)
def test_whatever_is_admitted_can_be_read(text: str) -> None:
    """JSON has several ways to write a number."""
    body = f'{{"delaySeconds": 1, "action": {json.dumps(ACTION)}, "retry": {text}}}'
    assert policy_of(admit(body.encode(), NOW, built_in()).definition) != DEFAULT


# ------------------------------------------------------------ the delays


@given(policies)
@example(RetryPolicy(first=MAX_FIRST_SECONDS, factor=MAX_FACTOR, longest=MAX_AGE_SECONDS))
def test_no_delay_is_shorter_than_the_one_before_and_none_is_beyond_the_longest(policy: RetryPolicy) -> None:
    """For a hundred attempts, whatever the factor."""
    delays = [backoff_seconds(policy, attempt) for attempt in every_attempt]
    assert all(one <= other for one, other in pairwise(delays))
    assert delays[0] == min(policy.first, policy.longest)
    assert delays[-1] <= policy.longest


@given(policies, ids, st.sampled_from(every_attempt))
def test_a_delay_is_at_most_a_quarter_shorter_and_never_below_a_second(
    policy: RetryPolicy, schedule_id: str, attempt: int
) -> None:
    whole = backoff_seconds(policy, attempt)
    seconds = retry_seconds(policy, schedule_id, attempt)
    assert isinstance(seconds, int)
    assert max(1, whole * 3 / 4 - 0.5) <= seconds <= max(1, whole + 0.5)
    assert seconds == retry_seconds(policy, schedule_id, attempt), "the same for a message that repeats its send"


def test_what_failed_together_does_not_come_back_together() -> None:
    waits = {retry_seconds(DEFAULT, an_id(NOW + at), 6) for at in range(200)}
    assert len(waits) > 50


@given(policies, ids, st.sampled_from(every_attempt), st.integers(-DAY, 20 * DAY // SECOND))
def test_the_delay_that_a_target_asks_for_takes_the_place_of_the_backoff(
    policy: RetryPolicy, schedule_id: str, attempt: int, asked: int
) -> None:
    assert retry_seconds(policy, schedule_id, attempt, asked) == max(asked, 1)


def test_default_retries_last_more_than_an_hour() -> None:
    """And, unless targets ask for longer delays, end long before their age does."""
    waits = [retry_seconds(DEFAULT, an_id(), attempt) for attempt in range(1, DEFAULT.max_attempts)]
    assert 45 * MINUTE < sum(waits) * SECOND < DEFAULT.max_age


@given(st.builds(RetryPolicy, max_attempts=st.integers(1, 3), max_age=ages, first=firsts))
@example(RetryPolicy(max_attempts=1))
@example(RetryPolicy(max_age=SECOND, first=2))
def test_a_first_attempt_knows_whether_there_may_be_another(policy: RetryPolicy) -> None:
    """What it is told is what happens if it fails. The spread may bring a next one that it was not told of."""
    message = an_executor_message(NOW)
    failed = Retry(detail="HTTP 503")
    following = decide_next(Made(message=message, result=failed, lateness=0), failed, policy, NOW)
    if allows_another(policy, 1):
        assert isinstance(following, TryAgain)
    else:
        assert isinstance(following, GiveUp) or policy.first * SECOND > policy.max_age


def test_a_later_one_knows_it_by_its_number() -> None:
    assert [allows_another(RetryPolicy(max_attempts=3), attempt) for attempt in (1, 2, 3)] == [True, True, False]
