"""What schedules do, of the fake and of a stack alike."""

from collections.abc import Callable
from datetime import datetime

from tests.client.testing.subject import Api

Scenario = Callable[[Api], None]


def it_fires_once_at_its_time(api: Api) -> None:
    made = api("POST /schedules", {"delaySeconds": 4, "action": api.action(), "payload": {"order": 17}})
    assert (made.status, made.body["state"]) == (201, "scheduled")
    assert made.headers["location"] == f"/schedules/{made.body['scheduleId']}"
    api.subject.pass_time(1)
    early = api.subject.arrived(api.path)
    # A stack that is busy may have answered the call late, and be right.
    assert not early or api.subject.now() >= datetime.fromisoformat(made.body["pointInTime"])
    [headers] = api.arrived(1)
    assert headers["idempotency-key"] == headers["delayer-schedule-id"] == made.body["scheduleId"]
    assert headers["delayer-point-in-time"] == made.body["pointInTime"]
    assert headers["webhook-signature"].startswith("v1,")
    done = api.in_state(made.body["scheduleId"], "executed")
    assert (done["attempt"], done["detail"], done["latenessMs"] >= 0) == (1, "HTTP 200", True)
    api.subject.pass_time(2)
    assert len(api.subject.arrived(api.path)) == 1


def its_history_tells_what_happened(api: Api) -> None:
    schedule = api.schedule(0)
    api.until(lambda: len(api.ok(f"GET /schedules/{schedule}").get("history", ())) == 4)
    found = api.ok(f"GET /schedules/{schedule}")
    assert [one["event"] for one in found["history"]] == ["scheduled", "enqueued", "claimed", "executed"]


def what_is_cancelled_never_fires(api: Api) -> None:
    schedule = api.schedule(4)
    assert api.ok(f"DELETE /schedules/{schedule}")["state"] == "cancelled"
    assert api.ok(f"DELETE /schedules/{schedule}")["state"] == "cancelled"
    api.subject.pass_time(5)
    assert api.subject.arrived(api.path) == []
    assert api.ok(f"GET /schedules/{schedule}")["state"] == "cancelled"


def a_cancel_that_is_too_late_says_so(api: Api) -> None:
    schedule = api.schedule(0)
    api.in_state(schedule, "executed")
    late = api(f"DELETE /schedules/{schedule}")
    assert (late.status, late.body["type"], late.body["state"]) == (409, "urn:delayer:problem:ended", "executed")


def a_name_is_replaced(api: Api) -> None:
    path = "/schedules/by-name/trial"
    body = {"delaySeconds": 3600, "action": api.action()}
    first = api(f"PUT {path}", body)
    second = api(f"PUT {path}", {**body, "delaySeconds": 7200})
    assert (first.status, second.status) == (201, 200)
    assert api.ok(f"GET /schedules/{first.body['scheduleId']}")["replacedBy"] == second.body["scheduleId"]
    assert api(f"PUT {path}", body, {"If-None-Match": "*"}).status == 412
    taken = api("POST /schedules", {**body, "name": "trial"})
    assert (taken.status, taken.body["scheduleId"]) == (409, second.body["scheduleId"])
    assert api.ok(f"GET {path}")["scheduleId"] == second.body["scheduleId"]
    assert api.ok(f"DELETE {path}")["state"] == "cancelled"


def a_change_takes_its_place(api: Api) -> None:
    schedule = api.schedule(3600, payload={"old": True}, group="changed")
    changed = api.ok(f"PATCH /schedules/{schedule}", {"payload": {"new": True}, "pointInTime": "2035-01-01T00:00:00Z"})
    found = api.ok(f"GET /schedules/{changed['scheduleId']}")
    assert (found["payload"], found["pointInTime"]) == ({"new": True}, "2035-01-01T00:00:00.000Z")
    assert api.ok(f"GET /schedules/{schedule}")["state"] == "replaced"


def what_fails_is_tried_again(api: Api) -> None:
    api.subject.answer(api.path, 503, times=2)
    schedule = api.schedule(0, retry={"backoff": {"first": 1, "factor": 1}})
    arrived = api.arrived(3)
    assert [one["delayer-attempt"] for one in arrived] == ["1", "2", "3"]
    assert len({one["idempotency-key"] for one in arrived}) == 1
    assert api.in_state(schedule, "executed")["attempt"] == 3


def what_is_refused_fails(api: Api) -> None:
    api.subject.answer(api.path, 400)
    assert api.in_state(api.schedule(0), "failed")["detail"] == "HTTP 400"


def attempts_come_to_an_end(api: Api) -> None:
    api.subject.answer(api.path, 503)
    schedule = api.schedule(0, retry={"maxAttempts": 2, "backoff": {"first": 1, "factor": 1}})
    assert api.in_state(schedule, "failed")["attempt"] == 2


def a_stop_ends_the_attempts(api: Api) -> None:
    api.subject.answer(api.path, 503)
    schedule = api.schedule(0, retry={"backoff": {"first": 3, "factor": 1}})
    api.arrived(1)
    api.until(lambda: "nextAttemptAt" in api.ok(f"GET /schedules/{schedule}"))
    late = api(f"DELETE /schedules/{schedule}")
    assert (late.status, late.body["type"], late.body["state"]) == (409, "urn:delayer:problem:handed-over", "claimed")
    assert api(f"POST /schedules/{schedule}/stop").status == 202
    api.in_state(schedule, "dropped")
    assert len(api.subject.arrived(api.path)) == 1


def what_is_too_late_is_dropped(api: Api) -> None:
    now = api.ok("POST /schedules", {"delaySeconds": 0, "action": api.action()})["pointInTime"]
    api.subject.pass_time(2)
    body = {"pointInTime": now, "action": api.action(), "onLate": {"after": "PT1S", "do": "drop"}}
    dropped = api.ok("POST /schedules", body)
    assert "late" in api.in_state(dropped["scheduleId"], "dropped")["detail"]


def a_batch_has_a_result_for_each(api: Api) -> None:
    good = {"delaySeconds": 3600, "action": api.action()}
    bad = {"delaySeconds": -1, "action": {"type": "no-such"}}
    results = api.ok("POST /schedules/batch", {"schedules": [good, bad, good]})["results"]
    assert [one["status"] for one in results] == [201, 422, 201]
    assert {error["field"] for error in results[1]["problem"]["errors"]} == {"delaySeconds", "action.type"}
    assert results[0]["schedule"]["scheduleId"] != results[2]["schedule"]["scheduleId"]


def a_list_is_read_page_by_page(api: Api) -> None:
    made = [api.schedule(delay, group="pages") for delay in (3900, 3700, 3800, 3600, 4000)]
    listed, call = [], "GET /schedules?group=pages&limit=2"
    page = api.ok(call)
    while True:
        listed += [one["scheduleId"] for one in page["schedules"]]
        if "nextCursor" not in page:
            break
        page = api.ok(f"{call}&cursor={page['nextCursor']}")
    assert listed == [made[at] for at in (3, 1, 2, 0, 4)]
    api.ok(f"DELETE /schedules/{made[0]}")
    cancelled = api.ok("GET /schedules?group=pages&state=cancelled")["schedules"]
    assert [one["scheduleId"] for one in cancelled] == [made[0]]
    owned = {"Delayer-Owner": "lists"}
    alone = api.ok("POST /schedules", {"delaySeconds": 3600, "action": api.action()}, owned)["scheduleId"]
    api.until(lambda: len(api.ok("GET /schedules", headers=owned)["schedules"]) == 1)
    assert api.ok("GET /schedules", headers=owned)["schedules"][0]["scheduleId"] == alone


def a_group_is_cancelled_by_a_job(api: Api) -> None:
    made = [api.schedule(3600, group="order-17") for _ in range(3)]
    begun = api("DELETE /schedules?group=order-17")
    assert begun.status == 202
    job = begun.headers["location"]
    api.until(lambda: api.ok(f"GET {job}")["state"] == "done")
    assert api.ok(f"GET {job}")["cancelled"] == 3
    assert {api.ok(f"GET /schedules/{one}")["state"] for one in made} == {"cancelled"}


def a_key_makes_one_schedule(api: Api) -> None:
    body, key = {"delaySeconds": 3600, "action": api.action()}, {"Idempotency-Key": "order-17"}
    first, second = api.ok("POST /schedules", body, key), api.ok("POST /schedules", body, key)
    assert first["scheduleId"] == second["scheduleId"]
    other = api("POST /schedules", {**body, "delaySeconds": 7200}, key)
    assert (other.status, other.body["type"]) == (422, "urn:delayer:problem:key-reused")


def a_problem_names_each_field(api: Api) -> None:
    wrong = api("POST /schedules", {"delaySeconds": 1, "action": {"type": "http-request", "url": "ftp://x"}, "nam": 1})
    assert (wrong.status, wrong.headers["content-type"]) == (422, "application/problem+json")
    assert {error["field"] for error in wrong.body["errors"]} == {"action.url", "nam"}
    assert api("POST /schedules", b"{no json").status == 400
    assert api("POST /schedules", b'{"a": "\xff"}').status == 400
    assert api("GET /schedules?limit=0").body["errors"][0]["field"] == "limit"


def what_is_not_there_is_no_secret(api: Api) -> None:
    schedule = api.schedule(3600)
    assert api(f"GET /schedules/{schedule}", headers={"Delayer-Owner": "another"}).status == 404
    assert api(f"GET /schedules/{schedule[::-1]}").status == 404
    assert api("GET /nothing").body["type"] == "urn:delayer:problem:no-such-path"
    no_method = api("PUT /schedules")
    assert (no_method.status, no_method.headers["allow"]) == (405, "DELETE, GET, POST")


def a_policy_decides_the_time(api: Api) -> None:
    body = {"when": {"policy": "spread", "seconds": 1}, "action": api.action()}
    made = api.ok("POST /schedules", body)
    assert made["state"] == "undecided"
    done = api.in_state(made["scheduleId"], "executed")
    assert done["decidedAs"] != made["scheduleId"]
    assert len(api.arrived(1)) == 1


def what_was_decided_is_cancelled_by_its_first_id(api: Api) -> None:
    body = {"when": {"policy": "spread", "seconds": 31_536_000}, "action": api.action()}
    first = api.ok("POST /schedules", body)["scheduleId"]
    decided = api.in_state(first, "scheduled")["decidedAs"]
    done = api.ok(f"DELETE /schedules/{first}")
    assert (done["scheduleId"], done["decidedAs"], done["state"]) == (first, decided, "cancelled")


def an_answer_is_kept(api: Api) -> None:
    schedule = api.ok("POST /schedules", {"delaySeconds": 0, "action": api.action(keepAnswer=True)})["scheduleId"]
    api.in_state(schedule, "executed")
    api.until(lambda: "executed" in [one["event"] for one in api.ok(f"GET /schedules/{schedule}").get("history", ())])
    assert api.ok(f"GET /schedules/{schedule}")["history"][-1]["answer"]["status"] == 200


SCENARIOS: tuple[Scenario, ...] = (
    it_fires_once_at_its_time,
    its_history_tells_what_happened,
    what_is_cancelled_never_fires,
    a_cancel_that_is_too_late_says_so,
    a_name_is_replaced,
    a_change_takes_its_place,
    what_fails_is_tried_again,
    what_is_refused_fails,
    attempts_come_to_an_end,
    a_stop_ends_the_attempts,
    what_is_too_late_is_dropped,
    a_batch_has_a_result_for_each,
    a_list_is_read_page_by_page,
    a_group_is_cancelled_by_a_job,
    a_key_makes_one_schedule,
    a_problem_names_each_field,
    what_is_not_there_is_no_secret,
    a_policy_decides_the_time,
    what_was_decided_is_cancelled_by_its_first_id,
    an_answer_is_kept,
)
