"""What series and connections do, of the fake and of a stack alike."""

from typing import Any
from urllib.parse import quote

from tests.client.testing.scenarios import Scenario
from tests.client.testing.subject import Api

YEARLY = {"cron": "0 9 24 12 *", "timeZone": "Europe/Lisbon"}


def body_of(api: Api, **more: object) -> dict[str, Any]:
    """A series that does not fire by itself during the tests."""
    return {"repeat": YEARLY, "action": api.action(), **more}


def a_series_has_a_next_time(api: Api) -> None:
    made = api("POST /series", body_of(api))
    assert (made.status, made.body["state"]) == (201, "active")
    series = made.headers["location"]
    found = api.ok(f"GET {series}")
    assert (found["next"], found["description"]) == (made.body["next"], found["description"])
    times = api.ok(f"GET {series}/next?count=3")["times"]
    assert (len(times), times[0]) == (3, made.body["next"])
    assert api.ok("POST /series/preview", {"repeat": YEARLY})["times"][0] == made.body["next"]
    page = api.ok("GET /series?limit=100")
    listed = [one["seriesId"] for one in page["series"]]
    while cursor := page.get("nextCursor"):  # on a stack that others use, too
        page = api.ok(f"GET /series?limit=100&cursor={quote(cursor)}")
        listed += [one["seriesId"] for one in page["series"]]
    assert made.body["seriesId"] in listed


def a_series_is_steered(api: Api) -> None:
    series = api("POST /series", body_of(api)).headers["location"]
    paused = api.ok(f"POST {series}/pause")
    assert (paused["state"], len(paused["cancelled"])) == ("paused", 1)
    resumed = api.ok(f"POST {series}/resume")
    assert (resumed["state"], resumed["missed"]) == ("active", 0)
    changed = api.ok(f"PATCH {series}", {"payload": {"a": 1}})
    assert changed["takesEffectAt"]["number"] >= 1
    assert api.ok(f"GET {series}")["payload"] == {"a": 1}
    ended = api.ok(f"DELETE {series}")
    assert ended["state"] == "cancelled"
    assert api(f"POST {series}/resume").status == 409


def a_series_runs_when_it_is_asked(api: Api) -> None:
    series = api("POST /series", body_of(api, payload={"n": 1})).headers["location"]
    run = api(f"POST {series}/run-now")
    assert run.status == 201
    [headers] = api.arrived(1)
    assert headers["idempotency-key"] == run.body["scheduleId"]
    api.in_state(run.body["scheduleId"], "executed")
    api.until(lambda: bool(api.ok(f"GET {series}/occurrences")["occurrences"]))


def a_series_is_filled_in(api: Api) -> None:
    """A backfill runs through the times of the past, one after the other."""
    since = {"from": "2019-01-01T00:00:00Z", "onMissed": "skip"}
    series = api("POST /series", body_of(api, repeat=YEARLY | since)).headers["location"]
    asked = {"from": "2020-01-01T00:00:00Z", "until": "2022-06-01T00:00:00Z"}
    assert api(f"POST {series}/backfill", asked).status == 202
    assert len(api.arrived(2)) == 2


def a_series_has_a_name(api: Api) -> None:
    path = "/series/by-name/report"
    first, second = api(f"PUT {path}", body_of(api)), api(f"PUT {path}", body_of(api, payload=2))
    assert (first.status, second.status) == (201, 200)
    assert api.ok(f"GET {path}")["payload"] == 2
    taken = api("POST /series", body_of(api, name="report"))
    assert (taken.status, taken.body["type"]) == (409, "urn:delayer:problem:name-taken")
    assert api.ok(f"DELETE {path}")["state"] == "cancelled"


def a_rule_that_is_wrong_is_named(api: Api) -> None:
    wrong = api("POST /series", body_of(api, repeat={"cron": "0 25 * * *"}))
    assert (wrong.status, wrong.body["errors"][0]["field"]) == (422, "repeat.cron")
    assert api("GET /series/0123456789abcdef0123456789abcdef").status == 404


def a_connection_gives_its_credentials(api: Api) -> None:
    assert api("PUT /connections/crm", {"type": "bearer", "token": "S3CR3T"}).status == 201
    assert "S3CR3T" not in str(api.ok("GET /connections/crm"))
    tried = api.ok("POST /connections/crm/test", {"url": f"{api.subject.target}{api.path}"})
    assert (tried["succeeded"], tried["detail"]) == (True, "HTTP 200")
    far = api.ok("POST /schedules", {"delaySeconds": 3600, "action": api.action(connection="crm")})
    api.ok("POST /schedules", {"delaySeconds": 0, "action": api.action(connection="crm")})
    assert [one["authorization"] for one in api.arrived(2)] == ["Bearer S3CR3T"] * 2
    assert api("DELETE /connections/crm").status == 409
    api.ok(f"DELETE /schedules/{far['scheduleId']}")
    api.until(lambda: api("DELETE /connections/crm").status == 204)
    assert api("GET /connections/crm").status == 404
    assert api("POST /schedules", {"delaySeconds": 0, "action": api.action(connection="crm")}).status == 422


def the_actions_have_schemas(api: Api) -> None:
    types = {one["type"] for one in api.ok("GET /actions")["actions"]}
    assert {"http-request", "sqs-send", "sns-publish", "lambda-invoke", "event-put", "step-start"} <= types


def a_signing_secret_is_rotated(api: Api) -> None:
    owner = {"Delayer-Owner": "signs"}
    before = api.ok("GET /signing-secret", headers=owner)["current"]
    rotated = api.ok("POST /signing-secret/rotate", headers=owner)
    assert (rotated["previous"], rotated["current"] != before) == (before, True)
    assert api("POST /signing-secret/rotate", headers=owner).status == 409


SCENARIOS: tuple[Scenario, ...] = (
    a_series_has_a_next_time,
    a_series_is_steered,
    a_series_runs_when_it_is_asked,
    a_series_is_filled_in,
    a_series_has_a_name,
    a_rule_that_is_wrong_is_named,
    a_connection_gives_its_credentials,
    the_actions_have_schemas,
    a_signing_secret_is_rotated,
)
