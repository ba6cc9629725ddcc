"""What the fake says of the deployment, the template says, too; and it answers as the contract has it."""

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from delayer.http.routing import DEFAULT, OTHERWISE, ROUTES, route_of
from delayer_client.testing import FakeDelayer
from tests.cfn import resources
from tests.openapi import openapi
from tests.unit.series.calls import documented


def test_each_route_goes_to_the_function_that_the_template_names() -> None:
    routes = resources("AWS::ApiGatewayV2::Route").values()
    deployed = {route["RouteKey"]: route["Target"]["Fn::Sub"].split("{")[1].rstrip("}") for route in routes}
    routes_here = {f"{method} {path}": name for path, methods in ROUTES.items() for method, name in methods.items()}
    here = routes_here | {DEFAULT: OTHERWISE}
    named = {route: "".join(map(str.title, name.split("-"))) + "Integration" for route, name in here.items()}
    assert named == deployed


def test_the_most_exact_route_is_found() -> None:
    found = route_of("GET", "/schedules/by-name/a%2Fb")
    assert (found.route, found.parameters) == ("GET /schedules/by-name/{name}", {"name": "a/b"})
    assert route_of("POST", "/schedules/batch").function == "api-batch-post"
    assert route_of("GET", "/series/0a/next").route == "GET /series/{seriesId}/next"
    assert route_of("HEAD", "/schedules").function == route_of("GET", "/").function == OTHERWISE


def examples() -> dict[str, tuple[str, Any]]:
    """Those of requests in openapi.yaml, by a name for each: the route, and the body."""
    found = {}
    for path, operations in openapi()["paths"].items():
        for method, operation in operations.items():
            content = operation["requestBody"]["content"] if "requestBody" in operation else {}
            for name, example in content.get("application/json", {}).get("examples", {}).items():
                route = f"{method.upper()} {path}"
                found[f"{route} {name}"] = (route, example["value"])
    return found


EXAMPLES = examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_the_contract_is_answered_as_the_contract_says(name: str) -> None:
    route, body = EXAMPLES[name]
    fake = FakeDelayer(start=datetime(2026, 11, 21, 9, tzinfo=UTC))
    with httpx.Client(transport=fake.transport, base_url=fake.url) as http:
        action = {"type": "http-request", "url": "https://example.com/hook"}
        daily = {"cron": "0 9 * * *", "from": "2026-01-01T00:00:00Z", "onMissed": "skip"}
        series = http.post("/series", json={"repeat": daily, "action": action}).json()
        schedule = http.post("/schedules", json={"delaySeconds": 3600, "action": action}).json()
        there = {"{id}": schedule["scheduleId"], "{seriesId}": series["seriesId"], "{name}": "example"}
        method, path = route.split()
        for parameter, value in there.items():
            path = path.replace(parameter, value)
        answer = http.request(method, path, json=body)
    assert answer.status_code in (200, 201, 202), answer.text
    errors = documented(route, answer.status_code).iter_errors(answer.json())
    assert [error.message for error in errors] == []
