"""A process of its own: imports `app` as a cold start does. Prints what was imported, what was read, what was wired.

Nothing but Python's own library and one table is imported before `app`, so that what it imports shows.
"""

import gc
import json
import os
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType, MethodType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from tests.rooms import layer_of

ADAPTERS = ("engines.aws", "lambdas", "repository")
HOLDERS = ("delayer.targets.",)  # beside use cases, what may hold ports


class NotedEnvironment(dict[str, str]):
    """Notes which variables our own code reads."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__(variables)
        self.read: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.note(name, sys._getframe(1).f_globals["__name__"])
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.note(name, sys._getframe(1).f_globals["__name__"])
        return super().get(name, default)

    def note(self, name: str, reader: str) -> None:
        """Libraries read theirs."""
        if reader == "app" or reader.startswith("delayer."):
            self.read.add(name)


def objects_of(module: object) -> Iterator[Any]:
    """What it holds: its globals, what its functions have in their closures, and what its use cases hold."""
    waiting, seen = list(vars(module).values()), set[int]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, FunctionType):
            waiting += [cell.cell_contents for cell in one.__closure__ or ()]
        elif isinstance(one, MethodType):
            waiting.append(one.__self__)
        elif is_use_case(one) or (hasattr(type(one), "__attrs_attrs__") and type(one).__module__.startswith(HOLDERS)):
            waiting += [value for _, value, _ in fields_of(one)]
        elif type(one).__module__.startswith(("delayer.extension.", "delayer.lambdas.api")):
            waiting += getattr(one, "__dict__", {}).values()


def is_use_case(one: object) -> bool:
    """A class that composes ports."""
    kind = type(one)
    is_ours = kind.__module__.startswith("delayer.") and hasattr(kind, "__attrs_attrs__")
    return is_ours and layer_of(kind.__module__) == "use_cases"


def outermost(use_cases: list[Any]) -> list[Any]:
    """Those that no other use case holds."""
    held = {id(value) for one in use_cases for _, value, _ in fields_of(one)}
    return [one for one in use_cases if id(one) not in held]


def fields_of(one: Any) -> Iterator[tuple[str, Any, Any]]:
    """The name of each field, its value and its annotation; of a mapping, each of its values."""
    hints = get_type_hints(type(one))
    for attribute in type(one).__attrs_attrs__:
        value, hint = getattr(one, attribute.name), hints[attribute.name]
        if get_origin(hint) in (Union, UnionType):
            [hint] = [part for part in get_args(hint) if part is not type(None)]
        if isinstance(value, dict) and get_args(hint):
            yield from ((attribute.name, part, get_args(hint)[1]) for part in value.values())
        else:
            yield attribute.name, value, hint


def ports_of(use_case: Any) -> Iterator[dict[str, Any]]:
    """Each object that it holds as a port."""
    from typing_extensions import is_protocol

    for name, value, hint in fields_of(use_case):
        ours = type(value).__module__.startswith("delayer.")
        if isinstance(hint, type) and is_protocol(hint) and value is not None:
            yield {
                "use_case": f"{type(use_case).__module__}.{type(use_case).__qualname__}",
                "field": name,
                "held": type(value).__name__,
                "resources": {**texts_of(getattr(value, "objects", None)), **texts_of(value)},
            }
        elif ours and not is_use_case(value) and layer_of(type(value).__module__) in ADAPTERS:
            raise TypeError(f"{type(use_case).__name__} holds {value!r}, and not by a port")


def texts_of(adapter: object) -> dict[str, str]:
    """The names of the resources that it, or the engine of what it stores as objects, is for."""
    names = [one.name for one in getattr(type(adapter), "__attrs_attrs__", ())]
    return {name: part for name in names if isinstance(part := getattr(adapter, name), str)}


def main() -> None:
    """Prints JSON, in its last line."""
    os.environ = NotedEnvironment(os.environ)  # type: ignore[assignment] # noqa: B003 - it is only read
    import app  # type: ignore[import-not-found] # the folder of the function is on the path

    assert callable(app.handler)
    collects = gc.get_threshold()[0] < 1_000 and gc.get_freeze_count() > 0
    modules = sorted(name for name in sys.modules if name.partition(".")[0] != "tests")
    read = sorted(os.environ.read)  # type: ignore[attr-defined]
    objects = list(objects_of(app))
    use_cases = [one for one in objects if is_use_case(one)]
    print(
        json.dumps(
            {
                "modules": modules,
                "collects": collects,
                "read": read,
                "services": sorted({one.function for one in objects if type(one).__name__ == "Telemetry"}),
                "use_cases": sorted({type(one).__module__ for one in use_cases}),
                "outermost": sorted(type(one).__name__ for one in outermost(use_cases)),
                "ports": [port for one in use_cases for port in ports_of(one)],
            }
        )
    )


if __name__ == "__main__":
    main()
