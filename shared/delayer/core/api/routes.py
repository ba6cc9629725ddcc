"""Which methods each path of the API has, and which of them only read, as `openapi.yaml` says."""

import json
import re
from importlib.resources import files
from typing import Final

_CONTRACT: Final = json.loads(files("delayer.core.api").joinpath("contract.json").read_text())
_ROUTES: Final[dict[str, list[str]]] = _CONTRACT["routes"]
_READ: Final[frozenset[str]] = frozenset(_CONTRACT["read"])
_PATHS: Final = {re.compile(re.sub(r"{[A-Za-z]+}", "[^/]+", path)): methods for path, methods in _ROUTES.items()}


def methods_of(path: str) -> tuple[str, ...]:
    """The methods of the most exact path that fits; empty if there is no such path."""
    fitting = [
        (pattern.pattern.count("[^/]+"), methods) for pattern, methods in _PATHS.items() if pattern.fullmatch(path)
    ]
    return tuple(min(fitting)[1]) if fitting else ()


def access_of(route: str) -> str:
    """`read`, or `write`: of a route as it is declared, such as `GET /schedules/{id}`. What is not known writes."""
    return "read" if route in _READ else "write"
