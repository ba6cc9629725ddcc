"""The stack that `make deploy` makes by default: it has no lane beside the precise one (ADR 0172)."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from delayer.schedule.instants import SECOND
from local.receiver import Receiver
from local.stack.emulated_stack import EmulatedStack
from tests.e2e.client import StackClient, now, until

pytestmark = pytest.mark.thorough

NEITHER = {"Actions": "http-request,remote,canary", "Lanes": "none", "Policies": "none", "Subscribers": "none"}


@pytest.fixture(scope="module")
def plain(receiver: Receiver) -> Iterator[StackClient]:
    given = {"DelayerPeriod": "60", **NEITHER}
    with (
        EmulatedStack(parameters=given, starts_functions=False) as stack,
        closing(StackClient(stack, receiver)) as made,
    ):
        yield made


def answered(plain: StackClient, method: str, path: str, body: Any = None) -> Any:
    """The body of an answer that is no refusal."""
    status, _, content = plain.call(method, path, body)
    assert status < 300, (method, path, content)
    return content


def test_it_has_no_table_and_no_function_of_a_lane(plain: StackClient) -> None:
    """It takes some seconds: the stack is created."""
    assert not {"RelaxedTable", "WaitingTable"} & set(plain.stack.outputs)
    pages = plain.stack.client("lambda").get_paginator("list_functions").paginate()
    names = {one["FunctionName"].removeprefix("delayer-") for page in pages for one in page["Functions"]}
    assert {"stream-enqueuer", "task-1minute-series"} <= names
    assert not [name for name in names if name.startswith(("relaxed-", "timing-", "policy-", "task-1minute-timing"))]


def test_what_needs_a_lane_is_refused_with_the_name_of_the_parameter(plain: StackClient) -> None:
    """By each call that could ask for one. It takes some seconds: functions start."""
    action = {"type": "http-request", "url": f"{plain.receiver.url}/never"}
    late, series = {"delaySeconds": 60, "action": action}, {"repeat": {"every": "PT24H"}, "action": action}
    made = answered(plain, "POST", "/series", series)["seriesId"]
    relaxed = {"precision": "relaxed"}
    calls: list[tuple[str, str, dict[str, Any], str]] = [
        ("POST", "/schedules", late | relaxed, "Lanes"),
        ("PUT", "/schedules/by-name/n", late | relaxed, "Lanes"),
        ("POST", "/series", series | relaxed, "Lanes"),
        ("PUT", "/series/by-name/n", series | relaxed, "Lanes"),
        ("PATCH", f"/series/{made}", relaxed, "Lanes"),
        ("POST", "/schedules", {"when": {"policy": "spread"}, "action": action}, "Policies"),
        ("PUT", "/schedules/by-name/n", {"when": {"policy": "spread"}, "action": action}, "Policies"),
    ]
    for method, path, body, parameter in calls:
        status, _, problem = plain.call(method, path, body)
        assert (status, len(problem["errors"])) == (422, 1), (method, path, problem)
        assert f"by the parameter {parameter}" in problem["errors"][0]["allowed"]
    batch = answered(plain, "POST", "/schedules/batch", {"schedules": [late | relaxed, late]})["results"]
    assert [one["status"] for one in batch] == [422, 201]


def test_each_call_about_a_schedule_does_what_it_does_elsewhere(plain: StackClient) -> None:
    """It takes seconds: it is due in one, and functions start."""
    plain.schedule("/plain", now() + SECOND, {"a": 1})
    made = plain.delayer.schedule(plain.target("/never"), delay=300, name="n", group="g")
    assert [one.id for one in plain.delayer.list(group="g")] == [made.id]
    changed = plain.delayer.change(made.id, delay=3600)
    replaced = plain.delayer.replace("n", plain.target("/never"), delay=3600)
    assert plain.delayer.get(changed.id).state == "replaced"
    assert plain.delayer.cancel(replaced.id)
    assert plain.delayer.get(replaced.id).state == "cancelled"
    in_group = plain.delayer.schedule(plain.target("/never"), delay=3600, group="g")
    answered(plain, "DELETE", "/schedules?group=g")
    until(lambda: plain.delayer.get(in_group.id).state, lambda state: state == "cancelled")
    assert plain.arrivals("/plain")


def test_what_has_failed_is_redriven(plain: StackClient) -> None:
    """It takes some seconds: it fires twice, and functions start."""
    plain.receiver.fail_first("/gone", 1, status=410)
    failed = plain.schedule("/gone", now())
    [letter] = plain.dead_letters(f"failed/{failed.id}/")
    plain.operate("redrive", key=letter["key"])
    assert len(plain.arrivals("/gone", count=2)) == 2


def test_a_series_is_created_run_steered_and_deleted(plain: StackClient) -> None:
    """It takes some seconds: functions start."""
    body = {"repeat": {"every": "PT24H"}, "action": {"type": "http-request", "url": f"{plain.receiver.url}/series"}}
    made = f"/series/{answered(plain, 'POST', '/series', body)['seriesId']}"
    answered(plain, "POST", f"{made}/run-now")
    assert plain.arrivals("/series")
    answered(plain, "PATCH", made, {"payload": 2})
    for call in ("pause", "resume"):
        answered(plain, "POST", f"{made}/{call}")
    assert answered(plain, "GET", made)["state"] == "active"
    assert answered(plain, "GET", f"{made}/occurrences")
    answered(plain, "DELETE", made)
    assert answered(plain, "GET", made)["state"] == "cancelled"
