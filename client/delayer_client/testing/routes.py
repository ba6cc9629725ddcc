"""Which function answers which call: as the routes of template.yaml do."""

import re
from typing import Final
from urllib.parse import unquote

from attrs import frozen

OF_FUNCTIONS: Final[dict[str, tuple[str, ...]]] = {
    "api-action-list": ("GET /actions",),
    "api-batch-post": ("POST /schedules/batch",),
    "api-connection-get": ("GET /connections", "GET /connections/{name}"),
    "api-connection-put": ("PUT /connections/{name}", "DELETE /connections/{name}"),
    "api-connection-test": ("POST /connections/{name}/test",),
    "api-group-delete": ("DELETE /schedules",),
    "api-job-get": ("GET /jobs/{id}",),
    "api-schedule-delete": ("DELETE /schedules/{id}", "DELETE /schedules/by-name/{name}"),
    "api-schedule-get": ("GET /schedules/{id}", "GET /schedules/by-name/{name}"),
    "api-schedule-list": ("GET /schedules",),
    "api-schedule-patch": ("PATCH /schedules/{id}",),
    "api-schedule-post": ("POST /schedules",),
    "api-schedule-put": ("PUT /schedules/by-name/{name}",),
    "api-schedule-stop": ("POST /schedules/{id}/stop",),
    "api-series-delete": ("DELETE /series/{seriesId}", "DELETE /series/by-name/{name}"),
    "api-series-get": (
        "GET /series/{seriesId}",
        "GET /series/by-name/{name}",
        "GET /series/{seriesId}/next",
        "GET /series/{seriesId}/occurrences",
    ),
    "api-series-list": ("GET /series",),
    "api-series-patch": ("PATCH /series/{seriesId}",),
    "api-series-pause": ("POST /series/{seriesId}/pause",),
    "api-series-post": ("POST /series",),
    "api-series-preview": ("POST /series/preview",),
    "api-series-put": ("PUT /series/by-name/{name}",),
    "api-series-resume": ("POST /series/{seriesId}/resume",),
    "api-series-run": ("POST /series/{seriesId}/run-now", "POST /series/{seriesId}/backfill"),
    "api-signing-secret": ("GET /signing-secret", "POST /signing-secret/rotate"),
}
DEFAULT: Final = "$default"
OTHERWISE: Final = "api-default"
PARAMETER: Final = re.compile(r"{(\w+)}")


@frozen(kw_only=True)
class Found:
    """Where a call goes."""

    function: str
    route: str  # as it is declared
    parameters: dict[str, str]  # of the path, decoded


@frozen(kw_only=True)
class _Route:
    function: str
    route: str
    method: str
    path: re.Pattern[str]


def _routes() -> tuple[_Route, ...]:
    """Those with the fewest parameters come first: API Gateway takes the most exact one."""
    pairs = [(function, route) for function, routes in OF_FUNCTIONS.items() for route in routes]
    made = []
    for function, route in sorted(pairs, key=lambda pair: pair[1].count("{")):
        method, path = route.split(" ")
        pattern = re.compile(PARAMETER.sub(r"(?P<\1>[^/]+)", path))
        made.append(_Route(function=function, route=route, method=method, path=pattern))
    return tuple(made)


_ROUTES: Final = _routes()


def route_of(method: str, raw_path: str) -> Found:
    """The route of a call. `raw_path` is as it was sent, so that a slash within a parameter is none of the path."""
    for one in _ROUTES:
        if one.method == method and (fits := one.path.fullmatch(raw_path)):
            parameters = {name: unquote(value) for name, value in fits.groupdict().items()}
            return Found(function=one.function, route=one.route, parameters=parameters)
    return Found(function=OTHERWISE, route=DEFAULT, parameters={})
