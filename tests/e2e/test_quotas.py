"""A stack that has quotas, and no journal: what is asked beyond them is refused, and all else is as true as ever."""

from delayer.core.schedule.instants import MINUTE, SECOND, minute_of, start_of
from tests.e2e.client import Client, now, sleep_until
from tests.e2e.test_lifecycle import owner, request


def test_an_owner_creates_no_more_in_a_minute_than_the_limit(ticking: Client) -> None:
    """429 and the seconds to wait; another owner is not concerned."""
    if start_of(minute_of(now()) + 1) - now() < 10 * SECOND:
        sleep_until(start_of(minute_of(now()) + 1))  # so that all of them fall into one minute
    body = request(ticking, "/quota", now() + 10 * MINUTE)
    reported = [ticking.call("POST", "/schedules", body, owner("busy")) for _ in range(7)]
    assert [status for status, _, _ in reported] == [201] * 5 + [429] * 2
    _, headers, problem = reported[-1]
    assert headers["content-type"] == "application/problem+json"
    assert 1 <= int(headers["retry-after"]) <= 60
    assert (problem["type"], problem["detail"]) == (
        "urn:delayer:problem:over-quota",
        "At most 5 schedules may be created in a minute.",
    )
    batch = ticking.call("POST", "/schedules/batch", {"schedules": [body]}, owner("busy"))[2]
    assert batch["results"][0]["status"] == 429
    assert ticking.call("POST", "/schedules", body, owner("calm"))[0] == 201


def test_without_a_journal_the_state_is_answered_and_only_groups_are_listed(ticking: Client) -> None:
    quiet = ticking.delayer_of("quiet")
    posted = ticking.schedule("/no-journal", now(), owner="quiet", group="g")
    ticking.arrivals("/no-journal")
    ticking.ledger_state(posted.id, "executed")
    found = quiet.get(posted.id)
    assert (found.state, found.history) == ("executed", None)
    status, _, problem = ticking.call("GET", "/schedules", headers=owner("quiet"))
    assert (status, problem["errors"][0]["field"]) == (422, "group")
    assert [one.id for one in quiet.list(group="g")] == [posted.id]
    assert ticking.stack.logs("stream-lifecycle") == "", "nobody reads the streams for it"
