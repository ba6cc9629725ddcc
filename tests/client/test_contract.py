"""The client and openapi.yaml say the same: what one can do, the other can."""

import subprocess
import sys
from typing import Any

import msgspec

from delayer.masking import mask
from delayer_client import HttpRequest, NewSchedule, NewSeries, OnLate, Retry, Spread
from delayer_client.api import models
from delayer_client.api.base import Model
from delayer_client.api.masking import FIELDS, PARTS, WORDS
from delayer_client.calls import owned, schedules, series
from delayer_client.calls.call import Answer, Call, Repeat
from delayer_client.calls.series import SeriesChange
from tests.cfn import ROOT
from tests.openapi import openapi
from tests.running.of_each import of_each

DOCUMENT = openapi()
SCHEMAS = DOCUMENT["components"]["schemas"]
ACTION = HttpRequest(url="https://example.com/")
KEY = models.ApiKeyConnection(header_name="X-Key", value="secret")
EVERYTHING: dict[str, Any] = {
    "action": ACTION,
    "payload": None,
    "name": "n",
    "group": "g",
    "tags": {"a": "b"},
    "window": 60,
    "on_late": OnLate(after="PT1H", do="drop"),
    "retry": Retry(max_attempts=3),
    "precision": "precise",
}
NEW = NewSchedule(delay=1, **EVERYTHING)
RULE = models.Repeat(cron="0 9 * * *")
SERIES = NewSeries(repeat=RULE, overlap="skip", **EVERYTHING)
CHANGE = SeriesChange(
    repeat=RULE, overlap="skip", **{k: v for k, v in EVERYTHING.items() if k not in ("name", "group")}
)
LIST: dict[str, Any] = {"group": "g", "state": "failed", "limit": 1, "cursor": "c"}
CALLS: list[Call[Any]] = [
    schedules.schedule(NEW),
    schedules.batch([NEW]),
    schedules.get("i"),
    schedules.get_named("n"),
    schedules.page(since="2026-11-21T09:00:00Z", until="2026-11-21T09:00:00Z", **LIST),
    schedules.cancel("i"),
    schedules.cancel_named("n"),
    schedules.replace("n", NEW, only_new=True),
    schedules.change("i", None, 1, 2, None),
    schedules.stop("i"),
    series.create(SERIES),
    series.put("n", SERIES, only_new=True),
    series.get("i"),
    series.get_named("n"),
    series.page(**LIST),
    series.preview(RULE, 3),
    series.following("i", 3),
    series.occurrences("i", "failed", 1, "c"),
    series.change("i", CHANGE),
    series.cancel("i"),
    series.cancel_named("n"),
    series.pause("i"),
    series.resume("i"),
    series.run_now("i", None),
    series.backfill("i", "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z", None),
    owned.cancel_group("g"),
    owned.job("i"),
    owned.connections(1, "c"),
    owned.connection("n"),
    owned.put_connection("n", KEY),
    owned.delete_connection("n", force=True),
    owned.test_connection("n", "https://example.com/"),
    owned.actions(),
    owned.signing_secret(),
    owned.rotate_signing_secret(600),
]
OPERATIONS = {
    (method.upper(), path): {
        **operation,
        "parameters": [*shared.get("parameters", []), *operation.get("parameters", [])],
    }
    for path, shared in DOCUMENT["paths"].items()
    for method, operation in shared.items()
    if method != "parameters"
}


def test_each_operation_has_its_call() -> None:
    assert sorted((call.method, template_of(call)) for call in CALLS) == sorted(OPERATIONS)


def template_of(call: Call[Any]) -> str:
    for method, path in OPERATIONS:
        parts = path.split("/"), call.path.split("/")
        fits = len(parts[0]) == len(parts[1]) and all(
            one == other or (one.startswith("{") and other in ("i", "n")) for one, other in zip(*parts, strict=True)
        )
        if method == call.method and fits:
            return str(path)
    raise AssertionError(call.name)


def resolved(node: Any) -> Any:
    return DOCUMENT["components"]["parameters"][node["$ref"].rpartition("/")[2]] if "$ref" in node else node


@of_each(CALLS)
def test_it_can_give_each_parameter_that_the_operation_takes(call: Call[Any]) -> None:
    parameters = [resolved(one) for one in OPERATIONS[call.method, template_of(call)]["parameters"]]
    assert set(call.query) == {one["name"] for one in parameters if one["in"] == "query"}
    takes = {one["name"] for one in parameters if one["in"] == "header"} - {"Delayer-Owner"}  # the client's own
    gives = set(call.headers) | ({"Idempotency-Key"} if call.repeat is Repeat.WITH_KEY else set())
    assert gives == takes


@of_each(
    [
        (NEW.body() | NewSchedule(action=ACTION, at="2026-11-21T09:00:00Z").body(), "ScheduleRequest"),
        (SERIES.body(), "SeriesRequest"),
        (CHANGE.body(), "SeriesChangeRequest"),
        (schedules.moment("2026-11-21T09:00:00Z", 1) | schedules.with_payload(1), "ChangeRequest"),
    ],
    unpacked=True,
)
def test_it_can_give_each_field_of_a_body(body: dict[str, Any], schema: str) -> None:
    body |= NewSchedule(action=ACTION, when=Spread(seconds=1)).body() if schema == "ScheduleRequest" else {}
    assert set(body) == set(SCHEMAS[schema]["properties"])


def test_the_classes_are_what_openapi_says() -> None:
    """It takes some seconds: the generator is started."""
    for script in ("models.py", "surface.py"):
        done = subprocess.run(
            [sys.executable, ROOT / "client/generate" / script, "--check"], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


def examples() -> list[tuple[str, int, Any]]:
    """Operation, status and body of each example of an answer."""
    found = []
    for (method, path), operation in OPERATIONS.items():
        for status, response in operation["responses"].items():
            named = response.get("$ref", "").rpartition("/")[2]
            content = DOCUMENT["components"]["responses"][named] if named else response
            for kind in content.get("content", {}).values():
                found += [(f"{method} {path}", int(status), one["value"]) for one in kind.get("examples", {}).values()]
    return found


@of_each(examples(), unpacked=True)
def test_each_example_of_an_answer_is_read(name: str, status: int, body: dict[str, Any]) -> None:
    call = next(one for one in CALLS if f"{one.method} {template_of(one)}" == name)
    read = call.read(Answer(status, msgspec.json.encode(body)))
    plain = read.schedule if isinstance(read, schedules.Cancellation) else read
    assert isinstance(plain, Model)
    assert set(plain.as_json()) == set(body)


def test_an_answer_of_a_newer_stack_is_still_read() -> None:
    """A new field, a new state, a policy of a team: none of them breaks a client that does not know it."""
    body = b"""{"scheduleId": "i", "state": "pondered", "new": {"deep": 1}, "when": {"policy": "own", "x": [1]},
               "onLate": {"after": "PT1H", "do": "ask"}, "history": [{"event": "pondered", "at": "2026-11-21T09:00:00Z",
               "state": "pondered"}]}"""
    found = schedules.get("i").read(Answer(200, body))
    assert (found.state, found.when, found.on_late and found.on_late.do) == (
        "pondered",
        {"policy": "own", "x": [1]},
        "ask",
    )


def test_what_was_read_is_shown_as_the_api_writes_it() -> None:
    """Instants, too: in UTC, with milliseconds; and what the client does not know is left out."""
    body = {"scheduleId": "i", "state": "executed", "pointInTime": "2026-11-21T09:00:00.250Z", "new": 1}
    body |= {"history": [{"event": "scheduled", "at": "2026-11-21T09:00:00.000Z", "state": "scheduled"}]}
    found = schedules.get("i").read(Answer(200, msgspec.json.encode(body)))
    assert found.as_json() == {name: value for name, value in body.items() if name != "new"}


def test_what_openapi_never_shows_is_never_printed() -> None:
    secret = {
        name
        for schema in SCHEMAS.values()
        for name, one in schema.get("properties", {}).items()
        if isinstance(one, dict) and one.get("writeOnly")
    }
    assert len(secret) >= 4
    assert secret <= FIELDS


def test_headers_are_masked_by_the_names_of_the_layer() -> None:
    assert (PARTS, WORDS) == (mask.PARTS, mask.WORDS)
