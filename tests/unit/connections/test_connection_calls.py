"""The calls about connections as API Gateway makes them: what they answer, and that no secret is in it."""

import json
from typing import Any

import pytest

from delayer.http.requests import ANONYMOUS
from delayer.schedule.instants import DAY, format_instant
from tests.looking import all_rows
from tests.unit.handlers import Handler, handler_of, world_of_handlers
from tests.world import World

SECRET = "S3CR3T-0123456789"
BODY = {"type": "oauth2-client-credentials", "tokenUrl": f"https://idp.example/t?k={SECRET}", "clientId": "delayer"}
BODY["clientSecret"] = SECRET
CLIMBING = ["..", ".", "../x", "a/b", "a#b", "x" * 129, "é", "a b", "%2e%2e", "crm\n", "\u202ecrm", "a\x00"]


@pytest.fixture
def world() -> World:
    return world_of_handlers()


def call(world: World, function: str, method: str, name: str = "", body: Any = None, **query: str) -> dict[str, Any]:
    handler: Handler = handler_of(world, function)
    path = "/connections/{name}" if name else "/connections"
    event = {
        "routeKey": f"{method} {path}",
        "pathParameters": {"name": name} if name else {},
        "queryStringParameters": query,
        "body": json.dumps(body) if body else None,
    }
    answer = handler(event, None)
    assert SECRET not in json.dumps(answer)
    return {**answer, "body": json.loads(answer["body"]) if answer["body"] else None}


def test_the_life_of_a_connection(world: World) -> None:
    made = call(world, "api-connection-put", "PUT", "crm", BODY)
    assert (made["statusCode"], made["headers"]["Location"]) == (201, "/connections/crm")
    assert made["body"]["tokenUrl"] == "https://idp.example/t?***"
    again = call(world, "api-connection-put", "PUT", "crm", {"type": "bearer", "token": SECRET})
    assert (again["statusCode"], again["body"]["type"]) == (200, "bearer")
    one = call(world, "api-connection-get", "GET", "crm")
    assert (one["statusCode"], one["body"]["inUse"]) == (200, {"schedules": 0, "series": 0})
    page = call(world, "api-connection-get", "GET")
    assert [row["name"] for row in page["body"]["connections"]] == ["crm"]
    assert call(world, "api-connection-put", "DELETE", "crm")["statusCode"] == 204
    assert call(world, "api-connection-put", "DELETE", "crm", force="true")["statusCode"] == 404
    assert call(world, "api-connection-get", "GET", "crm")["statusCode"] == 404
    assert SECRET not in repr(world.observer)


def test_hosts_are_shown_and_a_put_without_them_takes_them_away(world: World) -> None:
    body = {**BODY, "hosts": ["api.example.com"]}
    assert call(world, "api-connection-put", "PUT", "crm", body)["body"]["hosts"] == ["api.example.com"]
    assert call(world, "api-connection-get", "GET", "crm")["body"]["hosts"] == ["api.example.com"]
    assert "hosts" not in call(world, "api-connection-put", "PUT", "crm", BODY)["body"]
    wrong = call(world, "api-connection-put", "PUT", "crm", {**BODY, "hosts": ["*"]})
    assert (wrong["statusCode"], wrong["body"]["errors"][0]["field"]) == (422, "hosts[0]")


def test_a_series_that_is_over_says_until_when_it_holds_a_connection(world: World) -> None:
    call(world, "api-connection-put", "PUT", "crm", BODY)
    action = {"type": "http-request", "url": "http://x/", "connection": "crm"}
    over, live = (_series(world, action) for _ in range(2))
    world.halt.delete(ANONYMOUS, over)
    until = format_instant(world.clock.now() + 29 * DAY)
    held = f"Series that are over hold it until {until}, because an attempt of theirs may be made until then."
    both = call(world, "api-connection-put", "DELETE", "crm")
    assert (both["statusCode"], {*both["body"]["series"]}) == (409, {over, live})
    assert both["body"]["detail"] == (
        "Live schedules or series name it. Cancel or change them; or delete it with ?force=true, and they fail. " + held
    )
    world.halt.delete(ANONYMOUS, live)
    alone = call(world, "api-connection-put", "DELETE", "crm")
    assert (
        alone["body"]["detail"]
        == f"{held} Repeat the call then; or delete it now with ?force=true, and such an attempt fails."
    )
    assert call(world, "api-connection-put", "DELETE", "crm", force="true")["statusCode"] == 204


def _series(world: World, action: dict[str, str]) -> str:
    created: Any = world.create_series(json.dumps({"repeat": {"every": "PT1H"}, "action": action}).encode(), ANONYMOUS)
    return str(created.series)


def test_pages_go_on(world: World) -> None:
    for name in ("a", "b", "c"):
        call(world, "api-connection-put", "PUT", name, BODY)
    first = call(world, "api-connection-get", "GET", limit="2")["body"]
    rest = call(world, "api-connection-get", "GET", limit="2", cursor=first["nextCursor"])["body"]
    assert [row["name"] for row in rest["connections"]] == ["c"]
    assert "nextCursor" not in rest


@pytest.mark.parametrize("name", CLIMBING)
def test_a_name_that_climbs_is_refused(world: World, name: str) -> None:
    for function, method in (
        ("api-connection-put", "PUT"),
        ("api-connection-put", "DELETE"),
        ("api-connection-get", "GET"),
    ):
        answer = call(world, function, method, name, BODY if method == "PUT" else None)
        assert (answer["statusCode"], answer["body"]["errors"][0]["field"]) == (422, "name")
    assert all_rows(world.connections) == {}
    assert world.secrets.texts == {}


def test_what_is_wrong_is_named_without_its_value(world: World) -> None:
    answer = call(world, "api-connection-put", "PUT", "crm", {**BODY, "clientSecret": f"{SECRET}\n", "value": SECRET})
    assert answer["statusCode"] == 422
    assert {error["field"] for error in answer["body"]["errors"]} == {"clientSecret", "value"}
    assert world.secrets.texts == {}


def test_a_schedule_with_a_secret_by_hand_gets_a_hint(world: World) -> None:
    action = {"type": "http-request", "url": "http://x/", "headers": {"Authorization": SECRET}}
    body = json.dumps({"delaySeconds": 60, "action": action})
    for function, sent in (("api-schedule-post", body), ("api-batch-post", f'{{"schedules": [{body}]}}')):
        answer = handler_of(world, function)({"body": sent}, None)
        assert "hints" in answer["body"]
        assert SECRET not in answer["body"]
