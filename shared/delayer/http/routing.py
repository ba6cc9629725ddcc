"""Which function answers which call: the routes of `openapi.yaml`, by way of `contract.json`."""

import json
import re
from functools import cache
from importlib.resources import files
from typing import Final
from urllib.parse import unquote

from attrs import frozen

_CONTRACT: Final = json.loads(files("delayer.http").joinpath("contract.json").read_text())
ROUTES: Final[dict[str, dict[str, str]]] = _CONTRACT["routes"]  # by path and method: the function
_READ: Final[frozenset[str]] = frozenset(_CONTRACT["read"])
CREATE: Final[frozenset[str]] = frozenset(_CONTRACT["create"])  # by which an owner gets something new (ADR 0147)
PARAMETER: Final = re.compile(r"{(\w+)}")
DEFAULT: Final = "$default"  # what has no route
OTHERWISE: Final = "api-default"  # answers that


@frozen(kw_only=True)
class Routed:
    """Where a call goes."""

    function: str
    route: str  # as it is declared
    parameters: dict[str, str]  # of the path, decoded


def route_of(method: str, raw_path: str) -> Routed:
    """The route of a call. `raw_path` is as it was sent, so that a slash within a parameter is none of the path."""
    for path, pattern in _patterns():
        if method in ROUTES[path] and (fits := pattern.fullmatch(raw_path)):
            parameters = {name: unquote(value) for name, value in fits.groupdict().items()}
            return Routed(function=ROUTES[path][method], route=f"{method} {path}", parameters=parameters)
    return Routed(function=OTHERWISE, route=DEFAULT, parameters={})


def methods_of(raw_path: str) -> tuple[str, ...]:
    """The methods of the most exact path that fits; empty if there is no such path."""
    return next((tuple(ROUTES[path]) for path, pattern in _patterns() if pattern.fullmatch(raw_path)), ())


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The patterns of all routes, those with the fewest parameters first: API Gateway takes the most exact one."""
    ordered = sorted(ROUTES, key=lambda path: path.count("{"))
    return tuple((path, re.compile(PARAMETER.sub(r"(?P<\1>[^/]+)", path))) for path in ordered)


def access_of(route: str) -> str:
    """`read`, or `write`: of a route as it is declared, such as `GET /schedules/{id}`. What is not known writes."""
    return "read" if route in _READ else "write"
