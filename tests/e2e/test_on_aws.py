"""The stack does what the engine does: under the roles of `template.yaml`, through its streams, queues and functions.

The same tests, and few of them: each function behind the API answers, and each step of a schedule is taken.
"""

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.e2e import test_failures, test_firing, test_lifecycle
from tests.e2e.access import test_signatures
from tests.e2e.client import StackClient
from tests.e2e.flow import test_waiting
from tests.e2e.owners import test_owner_policies
from tests.e2e.series import test_series, test_steering
from tests.e2e.timing import test_policies

Test = Callable[[Any], None]

DAILY: tuple[Test, ...] = (
    test_firing.test_due_in_two_seconds,
    test_firing.test_as_a_rule_within_a_fraction_of_a_second,
    test_firing.test_the_largest_body_fires,
    test_lifecycle.test_a_schedule_is_looked_up_and_cancelled,
    test_lifecycle.test_what_was_executed_cannot_be_cancelled,
    test_lifecycle.test_a_change_takes_the_place_of_the_old_one,
    test_lifecycle.test_one_of_a_name,
    test_lifecycle.test_a_repeated_put_has_the_same_answer,
    test_lifecycle.test_another_owner_finds_nothing,
    test_lifecycle.test_many_in_one_call,
    test_lifecycle.test_a_group_is_listed_and_cancelled,
    test_lifecycle.test_a_stop_ends_the_attempts,
    test_lifecycle.test_a_schedule_has_a_history,
    test_lifecycle.test_all_of_an_owner_are_listed,
    test_failures.test_a_target_that_refuses_fails_and_can_be_redriven,
    test_policies.test_a_policy_decides_and_it_fires_once_under_its_new_id,
    test_signatures.test_a_schedule_arrives_signed_before_and_after_a_rotation,
)
# Most of these wait until each environment of a function knows what was decided.
THOROUGH: tuple[Test, ...] = (
    test_series.test_a_series_fires_and_goes_on,
    test_series.test_a_preview_and_what_comes_next,
    test_steering.test_it_is_changed_paused_resumed_and_cancelled,
    test_steering.test_one_runs_now_and_times_of_the_past_are_made_up_one_after_the_other,
    test_failures.test_a_target_that_is_down_at_first,
    test_lifecycle.test_what_is_late_is_dropped_by_its_rule,
    test_waiting.test_a_suspended_owner_waits_and_says_so_and_nobody_else_does,
    test_owner_policies.test_a_policy_is_obeyed_within_seconds_and_lifted_again,
    test_owner_policies.test_what_is_forbidden_by_now_is_not_attempted,
)


def each(tests: Iterable[Test], *marks: pytest.MarkDecorator) -> list[Any]:
    """By its name."""
    return [pytest.param(one, marks=marks, id=one.__name__.removeprefix("test_")) for one in tests]


@pytest.mark.parametrize("test", [*each(DAILY), *each(THOROUGH, pytest.mark.thorough)])
def test_the_stack_does_it_too(test: Test, on_aws: StackClient) -> None:
    """It takes seconds: what is scheduled is waited for."""
    test(on_aws)


@pytest.mark.thorough
def test_each_answer_in_a_race_is_true(on_aws: StackClient) -> None:
    """Processes race here, and DynamoDB decides; on the engine one thread does. It takes half a minute, as there."""
    for call in ("cancel", "patch", "put"):
        test_lifecycle.each_answer_is_true(on_aws, call, races=60)
