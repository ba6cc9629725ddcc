"""The functions of series on one world, and the contract that their answers are held to."""

import json
import re
from functools import cache
from typing import Any

from attrs import define, field
from jsonschema import Draft202012Validator

from delayer.history.model import LifecycleEvent
from tests.openapi import openapi
from tests.unit.handlers import handler_of, world_of_handlers
from tests.world import World

FUNCTIONS = {
    "POST /series": "api-series-post",
    "POST /series/preview": "api-series-preview",
    "GET /series": "api-series-list",
    "GET /series/{seriesId}": "api-series-get",
    "GET /series/{seriesId}/next": "api-series-get",
    "GET /series/{seriesId}/occurrences": "api-series-get",
    "GET /series/by-name/{name}": "api-series-get",
    "PUT /series/by-name/{name}": "api-series-put",
    "POST /schedules": "api-schedule-post",
    "GET /schedules/{id}": "api-schedule-get",
}
OWNER = "anonymous"


@cache
def documented(route: str, status: int) -> Any:
    """The schema of an answer; it is an error if there is no such answer."""
    method, path = route.split()
    answer = openapi()["paths"][path][method.lower()]["responses"][str(status)]
    if "$ref" in answer:
        answer = openapi()["components"]["responses"][answer["$ref"].rsplit("/", 1)[1]]
    [content] = answer["content"].values()
    return Draft202012Validator({**content["schema"], "components": openapi()["components"]})


@define
class Api:
    """Calls the functions as the gateway does."""

    world: World = field(factory=world_of_handlers)

    def __call__(
        self, call: str, body: object = None, headers: dict[str, str] | None = None, **query: str
    ) -> tuple[int, dict[str, Any]]:
        """Status and body. The answer is one that `openapi.yaml` has."""
        method, path = call.split()
        route, parameters = route_of(method, path)
        event = {
            "routeKey": route,
            "pathParameters": parameters,
            "queryStringParameters": query,
            "headers": headers or {},
            "body": body if isinstance(body, str) else json.dumps(body),
        }
        made = handler_of(self.world, FUNCTIONS[route])(event, None)
        answer = json.loads(made["body"])
        assert [error.message for error in documented(route, made["statusCode"]).iter_errors(answer)] == []
        return made["statusCode"], answer

    def ok(self, call: str, body: object = None, headers: dict[str, str] | None = None, **query: str) -> dict[str, Any]:
        """The body of an answer that is 2xx."""
        status, answer = self(call, body, headers, **query)
        assert status in (200, 201), answer
        return answer

    def history(self, schedule_id: str) -> tuple[LifecycleEvent, ...]:
        """What the journal has of a schedule."""
        return self.world.journal.history(schedule_id, OWNER)


def route_of(method: str, path: str) -> tuple[str, dict[str, str]]:
    """The route with the fewest parameters that fits."""
    fitting = []
    for route in FUNCTIONS:
        its_method, its_path = route.split()
        found = re.fullmatch(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", its_path), path)
        if its_method == method and found:
            fitting.append((found.groupdict(), route))
    parameters, route = min(fitting, key=lambda one: len(one[0]))
    return route, parameters
