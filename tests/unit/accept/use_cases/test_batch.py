"""Each schedule of a batch may have an idempotency key: after a lost answer the batch is sent again."""

import contextlib
import importlib.util
import json
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import pytest

from delayer.accept.rules.admission import admit, admit_batch
from delayer.accept.use_cases.accept import AcceptMany
from delayer.actions.rules.foreign import built_in
from delayer.engines.ports import Unavailable
from delayer.http.json_body import keyed
from delayer.http.problem import Invalid, NotJson
from delayer.records.repository import StoredRecords
from delayer.schedule.schedule import Schedule
from delayer.wiring.build import build
from tests.cfn import ROOT, shared_variables, variables
from tests.fakes.faults import Crash, Fault, FaultPlan
from tests.functions.cold_start import RUNTIME, value_of
from tests.looking import all_rows
from tests.samples import ACTION
from tests.world import START, World

FROM_HERE: dict[str, Any] = {"requestContext": {"http": {"sourceIp": "127.0.0.1"}}}  # the API is open to loopback only


def item(key: object = None, **fields: object) -> dict[str, object]:
    given = {"delaySeconds": 90, "action": ACTION, **fields}
    return given if key is None else {"idempotencyKey": key, **given}


def items_of(*schedules: object) -> list[Any]:
    return keyed(admit_batch(json.dumps({"schedules": schedules}).encode()))


@pytest.fixture
def function(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The handler of the function as it is; its ports are those of a world."""
    for name, value in {**shared_variables(), **variables("api-batch-post")}.items():
        monkeypatch.setenv(name, value_of(value))
    for name, text in RUNTIME.items():
        monkeypatch.setenv(name, text)
    monkeypatch.setenv("API_AUTHORIZATION", "NONE")
    found = importlib.util.spec_from_file_location("batch_app", ROOT / "functions/api-batch-post/app.py")
    assert found
    assert found.loader
    module = importlib.util.module_from_spec(found)
    monkeypatch.setitem(sys.modules, "batch_app", module)
    found.loader.exec_module(module)
    return module


def call(function: ModuleType, world: World, *schedules: object) -> list[dict[str, Any]]:
    """The results of one call."""
    function.accept = build(AcceptMany, world.ports("accept"))  # type: ignore[attr-defined]
    answer = function.handler({"body": json.dumps({"schedules": schedules}), **FROM_HERE}, None)
    assert answer["statusCode"] == 200
    results: list[dict[str, Any]] = json.loads(answer["body"])["results"]
    return results


def ids(results: list[dict[str, Any]]) -> list[str]:
    return [one.get("schedule", {}).get("scheduleId", "") for one in results]


def test_the_key_is_taken_out_and_nothing_else_changes() -> None:
    payload = '{"b": 1.0,   "a": 1e2}'
    body = '{"delaySeconds": 1, "idempotencyKey": "k", "payload": PAYLOAD, "action": ACTION}'
    text = body.replace("PAYLOAD", payload).replace("ACTION", json.dumps(ACTION))
    [one] = keyed([text.encode()])
    assert (one.key, one.errors) == ("k", ())
    assert admit(one.body, START, built_in()).definition.payload == payload


@pytest.mark.parametrize("body", [b"{}", b"[]", b"1", b"\xff", b'"idempotencyKey"', b'{"a": ', b"[" * 5000])
def test_what_has_no_key_is_left_as_it_is(body: bytes) -> None:
    assert keyed([body])[0].body == body
    with pytest.raises((NotJson, Invalid)):
        admit(keyed([body])[0].body, START, built_in())


@pytest.mark.parametrize("key", ["", "k" * 256, 1, {}, [], True], ids=str)
def test_what_cannot_be_a_key_is_refused_by_itself(key: object, function: ModuleType) -> None:
    world = World()
    results = call(function, world, item(key), item("good"))
    assert [one["status"] for one in results] == [422, 201]
    assert results[0]["problem"]["errors"][0]["field"] == "idempotencyKey"
    assert len(all_rows(world.table)) == 1


def test_null_is_no_key() -> None:
    assert items_of({**item(), "idempotencyKey": None})[0].errors


def test_a_batch_is_repeated_as_it_is(function: ModuleType) -> None:
    """A relative delay, too. What has no key is stored again."""
    world = World()
    batch = [item("k1"), item("k2", payload={"order": 2}), item()]
    first = call(function, world, *batch)
    world.clock.move(60_000)
    again = call(function, world, *batch)
    assert [one["status"] for one in (*first, *again)] == [201] * 6
    assert again[:2] == first[:2]
    assert again[2] != first[2]
    assert len(all_rows(world.table)) == 4


@pytest.mark.parametrize("fault", list(Fault))
@pytest.mark.parametrize("at", range(0, 14, 2))
def test_a_batch_that_was_stored_in_part_is_repeated(fault: Fault, at: int, function: ModuleType) -> None:
    """Whatever was lost of it: in the end each is stored once."""
    world = World(spoiled="accept", plan=FaultPlan(fault, at))
    batch = [item(f"k{number}") for number in range(5)]
    with contextlib.suppress(Unavailable, Crash):
        call(function, world, *batch)
    assert len(world.plan.seen) > at, "there is no such request"
    world.spoiled = ""
    world.build()
    results = call(function, world, *batch)
    assert [one["status"] for one in results] == [201] * 5
    assert sorted(ids(results)) == sorted(schedule.id for schedule in all_rows(world.table).values())


@pytest.mark.parametrize("left_out", [0, 24, 25, 59])
def test_what_is_not_known_to_be_stored_is_no_success(
    left_out: int, function: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of sixty in three requests: the others are answered 201, and stand in the table."""
    world = World()
    put_all = StoredRecords.put_all

    def leaves_one_out(records: StoredRecords, schedules: Sequence[Schedule]) -> list[Schedule]:
        left = [one for one in schedules if one.definition.payload == str(left_out)]
        return [*put_all(records, [one for one in schedules if one not in left]), *left]

    monkeypatch.setattr(StoredRecords, "put_all", leaves_one_out)
    results = call(function, world, *[item(payload=number) for number in range(60)])
    assert [number for number, one in enumerate(results) if one["status"] == 503] == [left_out]
    assert len(all_rows(world.table)) == 59
    assert {one for one in ids(results) if one} == {row.id for row in all_rows(world.table).values()}


def test_the_same_key_with_other_fields_is_a_mistake(function: ModuleType) -> None:
    world = World()
    call(function, world, item("k1"))
    [result] = call(function, world, item("k1", payload=2))
    assert result["status"] == 422
    assert result["problem"]["type"].endswith("key-reused")
    assert result["problem"]["errors"] == [
        {"field": "idempotencyKey", "problem": "used with another body or another call"}
    ]
    assert len(all_rows(world.table)) == 1


@pytest.mark.parametrize("other", [item("k1"), item("k1", payload=2)], ids=["the same", "another"])
def test_of_two_with_one_key_the_first_has_it(other: dict[str, object], function: ModuleType) -> None:
    """Each time: they are written side by side, so it must not depend on who is first."""
    world = World()
    for _ in range(2):
        results = call(function, world, item("k0"), item("k1"), other)
        assert [one["status"] for one in results] == [201, 201, 422]
        [error] = results[2]["problem"]["errors"]
        assert error["problem"] == "the same key as schedules[1]"
    assert len(all_rows(world.table)) == 2


def test_a_key_is_the_same_as_that_of_a_post(function: ModuleType) -> None:
    """It belongs to the owner: whoever repeats one of a batch alone gets the same schedule."""
    world = World()
    [result] = call(function, world, item("k1"))
    alone = f'{{"delaySeconds":90,"action":{json.dumps(ACTION)}}}'.encode()
    answer: Any = world.accept(alone, "anonymous", "k1")
    assert answer.schedule_id == ids([result])[0]
