"""A time that is decided afterwards, and a window: over HTTP, under the roles of the template, on the embedded AWS."""

from delayer.schedule.instants import HOUR, SECOND, format_instant
from delayer_client import NextBusinessHour, Schedule, Spread
from tests.e2e.client import Client, millis, now, until


def decided(client: Client, schedule_id: str) -> Schedule:
    """What a lookup by the accepted id says, once it has its time or was refused one."""

    def found() -> Schedule:
        schedule = client.delayer.get(schedule_id)
        assert schedule.id == schedule_id, "it is never lost from sight"
        return schedule

    return until(found, lambda schedule: schedule.state != "undecided")


def test_a_policy_decides_and_it_fires_once_under_its_new_id(client: Client) -> None:
    """It takes seconds: it is spread over one, and the journal is waited for."""
    accepted = client.delayer.schedule(client.target("/spread"), when=Spread(seconds=1), payload={"a": 1}).id
    found = decided(client, accepted)
    [request] = client.arrivals("/spread")
    assert request.headers["delayer-schedule-id"] == found.decided_as != accepted
    assert now() >= millis(found.point_in_time)
    client.ended(str(found.decided_as), "executed")
    # Both ids have such an event. The journal of a stack may get to know that of the second one earlier.
    history = until(
        lambda: client.history(accepted, "executed", beside=("decided", "claimed")),
        lambda found: found[0].event == "scheduled",
    )
    assert {one.event for one in history} >= {"scheduled", "decided", "claimed", "executed"}


def test_the_accepted_id_is_changed_and_cancelled(client: Client) -> None:
    """It takes a second: the policies decide one after the other."""
    delayer, day = client.delayer, Spread(seconds=86_400)
    changed, cancelled = (delayer.schedule(client.target(path), when=day).id for path in ("/moved-policy", "/never"))
    for one in (changed, cancelled):
        assert decided(client, one).state == "scheduled"
    successor = delayer.change(changed, at=format_instant(now()))
    [request] = client.arrivals("/moved-policy")
    assert request.headers["delayer-schedule-id"] == successor.id
    for _ in range(2):
        answer = delayer.cancel(cancelled).schedule
        assert answer
        assert (answer.state, answer.id) == ("cancelled", cancelled)


def test_a_refusal_has_its_reason(client: Client) -> None:
    never = NextBusinessHour(hours={"MON": []})
    found = decided(client, client.delayer.schedule(client.target("/never-open"), when=never).id)
    assert (found.state, found.detail) == ("failed", "there is no business hour in the next 400 days")


def test_what_is_wrong_with_a_policy_is_said_at_once(client: Client) -> None:
    action = {"type": "http-request", "url": client.receiver.url}
    status, _, body = client.post({"action": action, "when": {"policy": "spread", "seconds": 0}})
    assert (status, body["errors"][0]["field"]) == (422, "when.seconds")
    nowhere = {"policy": "next-business-hour", "timeZone": "Europe/Atlantis"}
    status, _, body = client.post({"action": action, "when": nowhere})
    assert (status, body["errors"][0]["field"]) == (422, "when.timeZone")
    status, _, body = client.post({"action": action, "when": {"policy": "tomorrow"}})
    assert (status, body["errors"][0]["field"]) == (422, "when.policy")


def test_a_window_is_behind_its_time(client: Client) -> None:
    at = now() + HOUR
    posted = client.schedule("/window", at, window=900)
    found = client.delayer.get(posted.id)
    assert found.window
    assert (found.window.seconds, millis(found.window.from_)) == (900, at)
    assert at <= millis(found.point_in_time) < at + 900 * SECOND
