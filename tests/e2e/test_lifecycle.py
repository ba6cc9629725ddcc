"""Taking back, changing, looking up: over HTTP."""

import json
import random
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from delayer.schedule.instants import HOUR, SECOND, Millis, format_instant
from delayer_client import NewSchedule, NotFound, OnLate
from tests.e2e.client import LATE, Client, StackClient, now, sleep_until, until

RACES = 200
SIDE_BY_SIDE = 16
AHEAD: Millis = 1500  # of a race's POST


def request(client: Client, path: str, due: Millis, **more: object) -> dict[str, Any]:
    return {
        "pointInTime": format_instant(due),
        "action": {"type": "http-request", "url": client.receiver.url + path},
        **more,
    }


@pytest.mark.promise(3)
def test_a_schedule_is_looked_up_and_cancelled(client: Client) -> None:
    """It may take a second: the functions of the API start."""
    posted, delayer = client.schedule("/cancelled", now() + HOUR, payload={"a": 1}), client.delayer
    found = delayer.get(posted.id)
    assert (found.state, found.payload) == ("scheduled", {"a": 1})
    for _ in range(2):
        cancelled = delayer.cancel(posted.id).schedule
        assert cancelled
        assert cancelled.state == "cancelled"
    assert delayer.get(posted.id).state == "cancelled"


@pytest.mark.promise(7)
def test_what_was_executed_cannot_be_cancelled(client: Client) -> None:
    posted = client.schedule("/executed", now())
    client.arrivals("/executed")
    client.ended(posted.id, "executed")
    status, headers, body = client.call("DELETE", f"/schedules/{posted.id}")
    assert (status, headers["content-type"]) == (409, "application/problem+json")
    assert (body["type"], body["state"]) == ("urn:delayer:problem:ended", "executed")
    assert body["claimedAt"]


def test_a_change_takes_the_place_of_the_old_one(client: Client) -> None:
    posted = client.schedule("/patched", now() + HOUR, payload="old")
    changed = client.delayer.change(posted.id, at=format_instant(now()), payload="new")
    assert changed.replaces == posted.id
    [request] = client.arrivals("/patched")
    assert (json.loads(request.body), request.headers["delayer-schedule-id"]) == ("new", changed.id)
    old = client.delayer.get(posted.id)
    assert (old.state, old.replaced_by) == ("replaced", changed.id)


def test_one_of_a_name(client: Client) -> None:
    """It takes two seconds: so far ahead is the second one."""
    path = "/schedules/by-name/one-of-a-name"
    first = client.call("PUT", path, request(client, "/name-1", now() + HOUR))
    assert first[0] == 201
    assert client.call("PUT", path, request(client, "/name", now()), {"If-None-Match": "*"})[0] == 412
    assert client.call("POST", "/schedules", request(client, "/name", now(), name="one-of-a-name"))[0] == 409
    second = client.call("PUT", path, request(client, "/name-2", now() + 2 * SECOND))
    assert (second[0], second[2]["replaces"]) == (200, first[2]["scheduleId"])
    assert client.call("GET", path)[2]["scheduleId"] == second[2]["scheduleId"]
    assert len(client.arrivals("/name-2")) == 1
    client.ended(second[2]["scheduleId"], "executed")
    assert client.call("PUT", path, request(client, "/name-3", now() + HOUR))[0] == 201
    assert client.call("DELETE", path)[2]["state"] == "cancelled"


def test_the_same_key_is_the_same_schedule(client: Client) -> None:
    body = {"delaySeconds": 3600, "action": {"type": "http-request", "url": client.receiver.url}, "group": "keyed"}
    headers = {"Idempotency-Key": "e2e 1"}
    answers = [client.call("POST", "/schedules", body, headers) for _ in range(2)]
    assert [answer[0] for answer in answers] == [201, 201]
    assert answers[0][2] == answers[1][2]
    assert client.call("POST", "/schedules", {**body, "delaySeconds": 1}, headers)[0] == 422


def test_a_repeated_change_has_the_same_answer(client: Client) -> None:
    """Also when what it has put has fired, and the old one is long replaced."""
    posted = client.schedule("/keyed", now() + HOUR, payload="old")
    path, headers = f"/schedules/{posted.id}", {"Idempotency-Key": "e2e change"}
    body = {"pointInTime": format_instant(now()), "payload": "new"}
    first = client.call("PATCH", path, body, headers)
    assert (first[0], first[2]["replaces"]) == (200, posted.id)
    client.arrivals("/keyed")
    client.ended(first[2]["scheduleId"], "executed")
    assert client.call("PATCH", path, body, headers)[::2] == first[::2]
    status, _, problem = client.call("PATCH", path, {"payload": "other"}, headers)
    assert (status, problem["type"]) == (422, "urn:delayer:problem:key-reused")
    assert client.call("PATCH", path, body)[0] == 409, "without the key"
    assert len(client.receiver.wait_for(1, "/keyed", 5)) == 1


def test_a_repeated_put_has_the_same_answer(client: Client) -> None:
    path, body = "/schedules/by-name/keyed", request(client, "/keyed-name", now() + HOUR)
    only_new = {"Idempotency-Key": "e2e put 1", "If-None-Match": "*"}
    first = client.call("PUT", path, body, only_new)
    assert first[0] == 201
    second = client.call("PUT", path, body, {"Idempotency-Key": "e2e put 2"})
    assert (second[0], second[2]["replaces"]) == (200, first[2]["scheduleId"])
    assert client.call("PUT", path, body, only_new)[::2] == first[::2], "201 again, and no 412"
    assert client.call("PUT", path, body, {"Idempotency-Key": "e2e put 2"})[::2] == second[::2]
    assert client.call("GET", path)[2]["scheduleId"] == second[2]["scheduleId"], "one schedule of the name"
    assert client.call("PUT", path, body, {"If-None-Match": "*"})[0] == 412


def test_another_owner_finds_nothing(client: Client) -> None:
    """It takes a second or two: there are nine calls."""
    posted, bob = client.schedule("/alice", now() + HOUR, owner="alice", name="hers"), client.delayer_of("bob")
    calls: list[Callable[[], object]] = [
        lambda: bob.get(posted.id),
        lambda: bob.get_named("hers"),
        lambda: bob.cancel(posted.id),
        lambda: bob.cancel_named("hers"),
        lambda: bob.change(posted.id, payload=1),
        lambda: bob.stop(posted.id),
    ]
    for call in calls:
        with pytest.raises(NotFound) as refused:
            call()
        assert refused.value.status == 404
    his = bob.replace("hers", client.target("/bob"), at=format_instant(now() + HOUR))
    assert his.replaces is None, "his own of that name"
    cancelled = client.delayer_of("alice").cancel_named("hers").schedule
    assert cancelled
    assert cancelled.id == posted.id


def owner(name: str) -> dict[str, str]:
    return {"Delayer-Owner": name}


def test_many_in_one_call(client: Client) -> None:
    bodies = [request(client, "/batch", now() + HOUR), {"delaySeconds": 1}, request(client, "/batch", now())]
    status, _, body = client.call("POST", "/schedules/batch", {"schedules": bodies})
    assert (status, [one["status"] for one in body["results"]]) == (200, [201, 422, 201])
    assert body["results"][1]["problem"]["errors"][0]["field"] == "action"
    assert len(client.arrivals("/batch")) == 1


def test_a_group_is_listed_and_cancelled(client: Client) -> None:
    """Two pages, one of them fired before; then none is left to fire. It takes some seconds: there are thirty."""
    group, delayer = "e2e-group", client.delayer
    due = [format_instant(now() + HOUR + at) for at in range(30)]
    ahead = [NewSchedule(action=client.target("/group"), at=at, group=group) for at in due]
    fired = NewSchedule(action=client.target("/group-fired"), at=format_instant(now()), group=group)
    assert [one.error for one in delayer.batch([*ahead, fired]) if not one.schedule] == []
    client.arrivals("/group-fired")
    states = [one.state for one in delayer.list(group=group, page_size=20)]
    assert (len(states), states.count("scheduled")) == (31, 30)
    status, headers, job = client.call("DELETE", f"/schedules?group={group}")
    assert (status, headers["location"]) == (202, f"/jobs/{job['jobId']}")
    done = delayer.groups.wait(job["jobId"], timeout=30)
    assert (done.state, done.found, done.cancelled, done.handed_over, done.ended) == ("done", 31, 30, 1, 0)
    with pytest.raises(NotFound):
        client.delayer_of("bob").groups.job(done.id)


def test_a_stop_ends_the_attempts(client: Client) -> None:
    """It takes seconds: the next attempt sees it."""
    client.receiver.answer("/stopped", 503)
    posted = client.schedule("/stopped", now())
    client.arrivals("/stopped")
    client.delayer.stop(posted.id)
    client.ended(posted.id, "dropped")
    assert str(client.delayer.get(posted.id).detail).startswith("stopped by its owner")


def test_what_is_late_is_dropped_by_its_rule(client: Client) -> None:
    posted = client.schedule("/dropped", now() - 10 * SECOND, on_late=OnLate(after="PT1S", do="drop"))
    client.ended(posted.id, "dropped")


def test_a_schedule_has_a_history(client: Client) -> None:
    """Each transition, with its attempt, its lateness and what the target said; and the definition, when it is over.

    It takes seconds: the second attempt waits.
    """
    client.receiver.answer("/history", 503)
    posted = client.schedule("/history", now() + SECOND, payload={"a": 1.0})
    client.arrivals("/history")
    client.receiver.answer("/history", 204)
    history = client.history(posted.id, "executed")
    assert [line.event for line in history] == ["scheduled", "enqueued", "claimed", "attempt-failed", "executed"]
    assert [line.attempt for line in history[2:]] == [1, 1, 2]
    assert [line.detail for line in history[2:]] == [None, "HTTP 503", "HTTP 204"]
    late = history[3].lateness_ms
    assert late is not None
    assert 0 <= late < LATE
    found = client.delayer.get(posted.id)
    assert (found.state, found.payload, found.lateness_ms) == ("executed", {"a": 1.0}, late)


def test_one_on_its_way_is_changed(on_aws: StackClient) -> None:
    """Its record has left the table, and the journal has what it held. On an engine it stays there until it is due.

    It takes a second or two: the journal is waited for.
    """
    posted = on_aws.schedule("/moved", now() + 20 * SECOND, payload="old")
    on_aws.history(posted.id, "enqueued")
    on_aws.delayer.change(posted.id, at=format_instant(now()), payload="new")
    [request] = on_aws.arrivals("/moved")
    assert json.loads(request.body) == "new"
    assert on_aws.history(posted.id, "replaced")[-1].event == "replaced"


def test_all_of_an_owner_are_listed(client: Client) -> None:
    """Of every group and of none; what belongs to another is not among them.

    It takes a second or two: the journal is waited for.
    """
    ids = [client.schedule("/listed", now() + HOUR + at, owner="lister").id for at in range(3)]
    for schedule_id in ids:
        client.history(schedule_id, "scheduled", owner="lister")
    page = client.call("GET", "/schedules?limit=2", headers=owner("lister"))[2]
    rest = client.call("GET", f"/schedules?limit=2&cursor={page['nextCursor']}", headers=owner("lister"))[2]
    assert [one["scheduleId"] for one in [*page["schedules"], *rest["schedules"]]] == ids
    assert [one.id for one in client.delayer_of("lister").list(page_size=2)] == ids
    assert client.call("GET", "/schedules", headers=owner("nobody"))[2] == {"schedules": []}


def test_a_list_says_what_has_fired(client: Client) -> None:
    """It takes a second: the journal is waited for."""
    mine = owner("reader")
    body = request(client, "/said", now(), group="said", tags={"team": "a"})
    posted = client.call("POST", "/schedules", body, mine)[2]["scheduleId"]
    client.history(posted, "executed", owner="reader")
    for query in ("", "?group=said"):
        [one] = client.call("GET", f"/schedules{query}", headers=mine)[2]["schedules"]
        assert (one["state"], one["group"], one["tags"]) == ("executed", "said", {"team": "a"})
        host = client.receiver.url.removeprefix("http://")
        assert (one["target"], "action" in one) == ({"type": "http-request", "name": host}, False)


def test_events_are_for_whoever_subscribes(on_aws: StackClient) -> None:
    """A CloudEvent for each transition; SNS filters. It takes a second or two: the events are waited for."""
    sns, sqs = on_aws.stack.client("sns"), on_aws.stack.client("sqs")
    url = sqs.create_queue(QueueName="subscriber")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    attributes = {"RawMessageDelivery": "true", "FilterPolicy": json.dumps({"state": ["executed"], "owner": ["sub"]})}
    topic = on_aws.stack.outputs["LifecycleTopic"]
    allowed = {"Effect": "Allow", "Principal": {"Service": "sns.amazonaws.com"}, "Action": "sqs:SendMessage"}
    policy = {"Version": "2012-10-17", "Statement": [{**allowed, "Resource": arn}]}
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"Policy": json.dumps(policy)})
    sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, Attributes=attributes)
    posted = on_aws.schedule("/subscribed", now(), owner="sub")
    on_aws.schedule("/not-subscribed", now())
    on_aws.arrivals("/not-subscribed")
    messages = until(lambda: sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"))
    [event] = [json.loads(message["Body"]) for message in messages]
    assert (event["specversion"], event["type"], event["subject"], event["data"]["state"]) == (
        "1.0",
        "delayer.schedule.executed",
        posted.id,
        "executed",
    )


def test_what_has_no_route_is_a_problem_too(client: Client) -> None:
    for method, path, status, allowed in (
        ("PUT", "/schedules", 405, "DELETE, GET, POST"),
        ("POST", "/schedules/some-id", 405, "DELETE, GET, PATCH"),
        ("GET", "/nowhere", 404, None),
    ):
        answer = client.call(method, path)
        assert (answer[0], answer[1]["content-type"]) == (status, "application/problem+json")
        assert answer[1].get("allow") == allowed


@pytest.mark.thorough
@pytest.mark.parametrize("call", ["cancel", "patch", "put"])
def test_each_answer_to_a_cancellation_or_replacement_is_true(client: Client, call: str) -> None:
    """Over and over: 200 and delivered never happens, nor 409 and not delivered.

    It takes a quarter of a minute: each race is one of the real time, and what was cancelled is given two seconds to
    arrive.
    """
    each_answer_is_true(client, call, RACES)


def each_answer_is_true(client: Client, call: str, races: int) -> None:
    """In so many races."""
    draws = random.Random(call)
    moments = [moment(draws, call, client.lead) for _ in range(races)]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        reported = list(pool.map(lambda number: race(client, call, number, moments[number]), range(races)))
    in_time = [path for path, status in reported if status == 200]
    too_late = [path for path, status in reported if status == 409]
    assert len(in_time) + len(too_late) == races, reported
    assert in_time, "some were in time"
    assert too_late, "and some were not"
    for path in too_late:
        assert len(client.arrivals(path)) == 1
    sleep_until(now() + 2 * SECOND)
    assert [path for path in in_time if client.receiver.of(path)] == []


def moment(draws: random.Random, call: str, lead: Millis) -> Millis:
    """Milliseconds after the POST: about the claim; a change by id also while the record leaves the table."""
    if call == "patch" and draws.random() < 0.7:
        return draws.randint(0, 120)
    return AHEAD + draws.randint(-lead - 300, 200)


def answered(client: Client, *call: Any) -> tuple[int, Mapping[str, str], Any]:
    """The first answer that is not 503, which on a busy machine says that nobody knows: a client asks again."""
    for _ in range(10):
        answer = client.call(*call)
        if answer[0] != 503:
            return answer
    raise AssertionError("always 503")


def race(client: Client, call: str, number: int, after: Millis) -> tuple[str, int]:
    """A schedule, and somebody who takes it back. The path it would reach, and the answer."""
    path, name, began = f"/race-{call}-{number}", f"race-{call}-{number}", now()
    named = {"name": name} if call == "put" else {}
    ahead = 2 * HOUR if call == "patch" and number % 10 == 0 else AHEAD  # some records stay in the table for sure
    once = {"Idempotency-Key": name}
    posted = answered(client, "POST", "/schedules", request(client, path, began + ahead, **named), once)[2]
    sleep_until(began + after)
    where = f"/schedules/{posted['scheduleId']}"
    match call:
        case "cancel":
            status = answered(client, "DELETE", where)[0]
        case "patch":
            status = answered(client, "PATCH", where, {"delaySeconds": 3600})[0]
        case _:
            put = ("PUT", f"/schedules/by-name/{name}", request(client, path, now() + HOUR))
            status = client.call(*put)[0]
            if status == 503:
                status = fate(client, where, answered(client, *put)[0])
    return path, 409 if status == 201 else status  # a name that moved on from what was executed


def fate(client: Client, where: str, status: int) -> int:
    """As `status`, but of the schedule that was POSTed. A PUT that is repeated after 503 may replace what the first one
    has put: its answer is true, and speaks of that one.
    """
    if status != 200:
        return status
    return 200 if answered(client, "GET", where)[2]["state"] == "replaced" else 409
