"""A stack that has quotas, and no journal: what is asked beyond them is refused, and all else is as true as ever."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from delayer.schedule.instants import MINUTE, SECOND, minute_of, start_of
from delayer_client import Conflict, Repeat
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from tests.e2e.client import StackClient, now, sleep_until
from tests.e2e.test_lifecycle import owner, request

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def quiet(receiver: Receiver) -> Iterator[StackClient]:
    """A stack of its own: these are its parameters."""
    parameters = {"DelayerPeriod": "60", "Lifecycle": "off", "MaxCreatesPerMinute": "5"}
    with (
        EmulatedStack(parameters=parameters, starts_functions=False) as stack,
        closing(StackClient(stack, receiver)) as quiet,
    ):
        yield quiet


def test_an_owner_creates_no_more_in_a_minute_than_the_limit(quiet: StackClient) -> None:
    """429 and the seconds to wait; another owner is not concerned.

    It takes up to ten seconds more, in which the next minute begins.
    """
    if start_of(minute_of(now()) + 1) - now() < 10 * SECOND:
        sleep_until(start_of(minute_of(now()) + 1))  # so that all of them fall into one minute
    body = request(quiet, "/quota", now() + 10 * MINUTE)
    reported = [quiet.call("POST", "/schedules", body, owner("busy")) for _ in range(7)]
    assert [status for status, _, _ in reported] == [201] * 5 + [429] * 2
    _, headers, problem = reported[-1]
    assert headers["content-type"] == "application/problem+json"
    assert 1 <= int(headers["retry-after"]) <= 60
    assert (problem["type"], problem["detail"]) == (
        "urn:delayer:problem:over-quota",
        "At most 5 schedules may be created in a minute.",
    )
    batch = quiet.call("POST", "/schedules/batch", {"schedules": [body]}, owner("busy"))[2]
    assert batch["results"][0]["status"] == 429
    assert quiet.call("POST", "/schedules", body, owner("calm"))[0] == 201


def test_without_a_journal_the_state_is_answered_and_only_groups_are_listed(quiet: StackClient) -> None:
    delayer = quiet.delayer_of("silent")
    posted = quiet.schedule("/no-journal", now(), owner="silent", group="g")
    quiet.arrivals("/no-journal")
    quiet.ledger_state(posted.id, "executed")
    found = delayer.get(posted.id)
    assert (found.state, found.history) == ("executed", None)
    status, _, problem = quiet.call("GET", "/schedules", headers=owner("silent"))
    assert (status, problem["errors"][0]["field"]) == (422, "group")
    assert [one.id for one in delayer.list(group="g")] == [posted.id]
    assert quiet.stack.logs("stream-lifecycle") == "", "nobody reads the streams for it"


def test_a_stack_without_lifecycle_events_says_why_it_has_no_series(quiet: StackClient) -> None:
    with pytest.raises(Conflict) as refused:
        quiet.delayer.series.create(Repeat(every="PT1M"), quiet.target("/never"))
    assert (refused.value.status, refused.value.problem.type) == (409, "urn:delayer:problem:no-lifecycle")
