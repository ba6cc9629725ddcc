"""Whatever a client sends, each function of the API answers with a status that its operation has, and never 500."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from delayer.http.json_body import MAX_ERRORS
from tests.samples import an_id
from tests.unit.handlers import handler_of, world_of_handlers

OPENAPI = yaml.safe_load((Path(__file__).parents[3] / "openapi.yaml").read_text())
CALLS = {
    "api-schedule-post": ("/schedules", "post"),
    "api-schedule-put": ("/schedules/by-name/{name}", "put"),
    "api-schedule-patch": ("/schedules/{id}", "patch"),
    "api-batch-post": ("/schedules/batch", "post"),
    "api-schedule-get": ("/schedules/{id}", "get"),
    "api-schedule-delete": ("/schedules/{id}", "delete"),
    "api-schedule-stop": ("/schedules/{id}/stop", "post"),
    "api-schedule-list": ("/schedules", "get"),
    "api-group-delete": ("/schedules", "delete"),
    "api-job-get": ("/jobs/{id}", "get"),
    "api-action-list": ("/actions", "get"),
}
WORLD = world_of_handlers()
HANDLERS = {function: handler_of(WORLD, function) for function in CALLS}
HTTP = {"type": "http-request", "url": "http://target/"}
GOOD = {"delaySeconds": 1, "action": HTTP}


def answer(function: str, event: dict[str, Any]) -> dict[str, Any]:
    made = HANDLERS[function](event, None)
    path, method = CALLS[function]
    assert made["statusCode"] != 500, f"{function}: {WORLD.observer.lines[-1]}"
    assert str(made["statusCode"]) in OPENAPI["paths"][path][method]["responses"]
    body: dict[str, Any] = json.loads(made["body"])
    for one in body.get("results", []):
        assert one["status"] in (201, 400, 409, 413, 422, 429)
    made["body"].encode()
    return body


def test_490_bytes() -> None:
    """Fifty unknown fields and no time."""
    document = {str(at): 0 for at in range(MAX_ERRORS)} | {"action": HTTP}
    for function in ("api-schedule-post", "api-schedule-put", "api-schedule-patch"):
        event = {"body": json.dumps(document), "pathParameters": {"name": "a", "id": an_id()}}
        assert answer(function, event)["status"] == 422
    [result] = answer("api-batch-post", {"body": json.dumps({"schedules": [document]})})["results"]
    assert result["status"] == 422


texts = st.text(st.characters(codec=None), max_size=6)
values = texts | st.sampled_from(["", "*", "a", "x" * 300, an_id(), "..", "a\n", "\ud800", "2026-11-21T09:00:00Z"])
headers = st.dictionaries(st.sampled_from(["idempotency-key", "delayer-owner", "if-none-match", "x"]), values)
trees: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner),
    max_leaves=4,
)
documents = st.dictionaries(st.sampled_from(["delaySeconds", "action", "payload", "name", "group"]) | texts, trees)
bodies = documents.map(json.dumps) | st.just(json.dumps(GOOD)) | texts
batches = st.lists(documents | st.just(GOOD), max_size=3).map(lambda items: json.dumps({"schedules": items}))
events = st.fixed_dictionaries(
    {},
    optional={
        "headers": st.none() | headers,
        "pathParameters": st.none() | st.dictionaries(st.sampled_from(["id", "name"]), values),
        "queryStringParameters": st.none()
        | st.dictionaries(st.sampled_from(["group", "state", "limit", "cursor", "from"]), values),
        "body": st.none() | bodies | batches,
    },
)


@pytest.mark.parametrize("function", CALLS)
@settings(max_examples=40)
@given(events)
@example({"body": "\ud800"})
@example({"headers": {"delayer-owner": "\ud800", "idempotency-key": "\ud800"}, "body": json.dumps(GOOD)})
@example({"headers": {"idempotency-key": "k" * 255, "delayer-owner": "\U00010000" * 256}, "body": json.dumps(GOOD)})
@example({"pathParameters": {"id": "\ud800" * 47, "name": "\ud800"}, "body": json.dumps(GOOD)})
@example({"pathParameters": {"id": "x" * 5000, "name": "x" * 5000}, "body": json.dumps(GOOD)})
def test_no_call_is_a_defect(function: str, event: dict[str, Any]) -> None:
    answer(function, event)


CALLERS = {
    "AWS_IAM": {"iam": {"userArn": "arn:aws:iam::123456789012:user/" + "u" * 2000}},
    "JWT": {"jwt": {"claims": {"iss": "https://issuer.example", "sub": "\u00e9" * 1000}}},
}


@pytest.mark.parametrize("authorization", CALLERS)
def test_a_caller_whose_name_no_table_could_hold_is_refused(authorization: str) -> None:
    """It was a 500: the owner is part of a schedule, and of the tables' keys."""
    handler = handler_of(WORLD, "api-schedule-post", authorization)
    event = {"requestContext": {"authorizer": CALLERS[authorization]}, "body": json.dumps(GOOD)}
    assert handler(event, None)["statusCode"] == 403
