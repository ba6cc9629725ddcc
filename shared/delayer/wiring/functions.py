"""The functions of Delayer as they are deployed, each on a bundle of ports in memory instead of on AWS.

`app.py` of a function makes its bundle when it is imported: `ports = Environment("api-schedule-post")`. It is executed
here with another `Environment`, so that neither boto3 nor Powertools is imported, and no account is reached.
"""

import builtins
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from types import CodeType, ModuleType, SimpleNamespace
from typing import Any, Final, Protocol

from delayer.wiring.bundle import Bundle

BUNDLED: Final = Path(__file__).parent / "bundled"  # in the wheel
CHECKED_OUT: Final = Path(__file__).parents[3] / "functions"  # beside shared/ in the repository
ENVIRONMENT: Final = "delayer.wiring.environment"
TELEMETRY: Final = "delayer.engines.aws.telemetry"

_reading_settings: Final = Lock()


class HasPorts(Protocol):
    """Has a bundle for each function."""

    @property
    def observer(self) -> Any:
        """Stands in for the telemetry of all."""
        ...

    def ports(self, function: str) -> Bundle:
        """The bundle of one."""
        ...


def loaded(
    function: str,
    stack: HasPorts,
    settings: Mapping[str, str],
    instead: Mapping[str, Mapping[str, object]] | None = None,
) -> Any:
    """The module of the function of this name. `settings` are the environment variables that the template sets.

    `instead` has what it imports from other modules than it says: by the name of the module, then by what it imports.
    """
    others: dict[str, Mapping[str, object]] = {
        ENVIRONMENT: {"Environment": stack.ports},
        TELEMETRY: {"Telemetry": lambda _function: stack.observer},
        **(instead or {}),
    }
    module = ModuleType(f"delayer_function_{function.replace('-', '_')}")
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _importing(others)}
    with _set(settings):
        exec(_code_of(function), module.__dict__)  # noqa: S102 - Delayer's own code
    return module


def _importing(others: Mapping[str, Mapping[str, object]]) -> Callable[..., Any]:
    """The `import` statement, for one module: what is to be another thing is, and all else is imported."""

    def find(name: str, *rest: Any, **named: Any) -> Any:
        if name not in others:
            return __import__(name, *rest, **named)
        mine = others[name]
        wanted = rest[2] if len(rest) > 2 else named.get("fromlist", ())
        if set(wanted) <= set(mine):
            return SimpleNamespace(**mine)
        return SimpleNamespace(**{**vars(__import__(name, *rest, **named)), **mine})

    return find


@cache
def _code_of(function: str) -> CodeType:
    """Compiled once, however many fakes there are."""
    path = BUNDLED / f"{function}.py" if BUNDLED.is_dir() else CHECKED_OUT / function / "app.py"
    if not path.is_file():
        raise ModuleNotFoundError(
            f"{path} is missing: delayer_client.testing runs Delayer's own functions. Install the wheel that "
            "`make client` builds, or use it from a whole checkout of Delayer."
        )
    return compile(path.read_text(), str(path), "exec")


@contextmanager
def _set(settings: Mapping[str, str]) -> Iterator[None]:
    """A handler reads its settings when it is imported; afterwards nobody sees them."""
    with _reading_settings:
        before = {name: os.environ.get(name) for name in settings}
        os.environ.update(settings)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value
