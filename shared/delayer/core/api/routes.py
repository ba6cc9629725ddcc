"""Which methods each path of the API has, as `openapi.yaml` says."""

import json
import re
from importlib.resources import files
from typing import Final

_ROUTES: Final[dict[str, list[str]]] = json.loads(files("delayer.core.api").joinpath("contract.json").read_text())[
    "routes"
]
_PATHS: Final = {re.compile(re.sub(r"{[A-Za-z]+}", "[^/]+", path)): methods for path, methods in _ROUTES.items()}


def methods_of(path: str) -> tuple[str, ...]:
    """The methods of the most exact path that fits; empty if there is no such path."""
    fitting = [
        (pattern.pattern.count("[^/]+"), methods) for pattern, methods in _PATHS.items() if pattern.fullmatch(path)
    ]
    return tuple(min(fitting)[1]) if fitting else ()
